"""Names that every kind of config.openshift.io/v1 shares."""

GROUP = "config.openshift.io"
VERSION = "v1"
API_VERSION = f"{GROUP}/{VERSION}"
