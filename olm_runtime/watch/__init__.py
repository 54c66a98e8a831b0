"""Lists and watches of kinds, kept up."""
