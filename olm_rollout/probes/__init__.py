"""Is an applied object healthy? Probes. Pure."""
