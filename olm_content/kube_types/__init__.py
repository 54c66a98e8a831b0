"""Types of the APIs of Kubernetes and OLM as tables, and values read as Go programs do. Pure."""
