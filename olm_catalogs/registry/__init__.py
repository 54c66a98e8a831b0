"""The registry API of OLM Classic: its messages, and what it answers about a catalog. Pure."""
