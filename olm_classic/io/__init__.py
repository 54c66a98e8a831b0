"""What of OLM Classic touches the world."""
