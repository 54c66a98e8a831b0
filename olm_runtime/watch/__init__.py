"""Lists and watches of kinds, into stores."""
