"""Parts of the benchmark of catalogd."""
