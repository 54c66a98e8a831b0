"""`olm classic`: what OLM Classic resolves, and why."""
