"""The stories: one file a kind, its steps in order."""
