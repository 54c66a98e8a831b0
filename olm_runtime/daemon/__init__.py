"""What programs with controllers share: their flags, and how they run."""
