"""Where upstream's two programs read the same files of a bundle differently.

operator-controller reads a bundle to install it, and refuses what it cannot read. opm reads one to
show it in a catalog, and passes over what it cannot read. All that is not named here is the same.
"""

from typing import NamedTuple


class Mode(NamedTuple):
    """The differences; use STRICT or LENIENT."""

    every_object: bool
    """Files of manifests/. operator-controller takes all documents and the items of lists, and
    refuses the bundle for a file that is not YAML, an object without a kind or with metadata of
    wrong types, and a folder. opm takes the first document of each file, remarks what is no
    object, and passes over folders and hidden files. Of several ClusterServiceVersions the last
    counts for operator-controller and the first for opm."""

    whole_types: bool
    """operator-controller reads the ClusterServiceVersion and all definitions, as v1, into their
    types. opm does so with the metadata of the ClusterServiceVersion and with definitions in v1
    and v1beta1; it shows all objects as they are written, and knows no definitions of other
    versions."""

    metadata_by_name: bool
    """Files of metadata/. operator-controller reads annotations.yaml and properties.yaml, refuses
    the bundle for wrong types in them, and adds the properties to those that an annotation of the
    ClusterServiceVersion lists. opm reads all files, takes the first of each kind by its content,
    and remarks those of wrong types."""


STRICT = Mode(every_object=True, whole_types=True, metadata_by_name=True)
"""As operator-controller reads."""

LENIENT = Mode(every_object=False, whole_types=False, metadata_by_name=False)
"""As opm reads."""
