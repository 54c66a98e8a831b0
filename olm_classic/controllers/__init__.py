"""The controllers of OLM Classic, one file a kind."""
