"""The plugin `kubectl olm` as krew installs it."""
