"""InstallPlans: from bundles to the objects that are written, in their order. Pure."""
