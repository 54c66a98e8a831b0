"""Release images: read, made and verified."""
