"""The least rights that installing a bundle needs, and how they are shown."""
