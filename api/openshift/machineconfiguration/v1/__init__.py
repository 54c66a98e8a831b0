"""Version v1 of machineconfiguration.openshift.io: MachineConfigPool."""
