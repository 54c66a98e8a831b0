"""What `olm` and the console do in a cluster and with catalogs: all but asking and showing."""
