"""What is counted, and how it is exposed. Pure."""
