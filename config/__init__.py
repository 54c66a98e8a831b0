"""What is installed besides the programs, and what generates it."""
