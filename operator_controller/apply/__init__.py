"""From objects to a plan: phases, revisions, ownership. Pure."""
