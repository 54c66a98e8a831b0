"""The group olm.operatorframework.io."""
