"""API group config.openshift.io: what OLM Classic serves of it. Pure."""
