"""olm-operator: brings what InstallPlans create to run."""
