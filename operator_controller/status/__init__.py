"""Everything that was gathered, to conditions. Pure."""
