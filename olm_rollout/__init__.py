"""Objects applied for an owner, phase after phase: whose they are, whether they work."""
