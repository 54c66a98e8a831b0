"""The product as tests and the demo run it: its programs, catalogs made of bundle folders."""
