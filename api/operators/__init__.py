"""API group operators.coreos.com, of OLM Classic: typed models of the kinds. Pure."""
