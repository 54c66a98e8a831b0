"""What the programs of OLM Classic with controllers share: their flags, and how they run."""
