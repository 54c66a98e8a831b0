"""Annotations and words of releases. They are a contract with releases that upstream has made."""

EXCLUDE_PREFIX = "exclude.release.openshift.io/"
INCLUDE_PREFIX = "include.release.openshift.io/"
"""Of annotations whose rest is a cluster profile."""
FEATURE_SET = "release.openshift.io/feature-set"
FEATURE_GATE = "release.openshift.io/feature-gate"
MAJOR_VERSION = "release.openshift.io/major-version"
CAPABILITY = "capability.openshift.io/name"

DEFAULT_PROFILE = "self-managed-high-availability"
"""The profile of a cluster that names none."""
