"""Where a release lies in its image, and on volumes."""

OPERATOR_FOLDER = "manifests"
"""Of the operator's own manifests, which are templates."""
RELEASE_FOLDER = "release-manifests"
BEING_COPIED = ".being-copied"
"""The folder of a volume that holds a release until it is whole."""
