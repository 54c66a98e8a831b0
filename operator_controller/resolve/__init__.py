"""Which bundle to install, and why not another. Pure."""
