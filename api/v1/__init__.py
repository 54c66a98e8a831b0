"""API group olm.operatorframework.io/v1: typed models of the kinds and their words. Pure."""
