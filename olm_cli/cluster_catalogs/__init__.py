"""The commands of `olm catalog`, and what they share."""
