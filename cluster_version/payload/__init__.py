"""What a release image contains, which of it is applied, and in which order. Pure."""
