"""`olm cluster`: commands about the version of a whole cluster."""
