"""What is counted, and the page that tells it. Pure."""
