"""The files of a bundle to what they say: for a catalog, or to install it.

Flow: metadata (the package), manifests in the order of files (the ClusterServiceVersion,
definitions, others), properties. Everything outside `manifests/` and `metadata/` is ignored.
"""

from collections.abc import Mapping
from typing import NamedTuple

from api.objects import CRD_KIND, KubeObject
from olm_content import names
from olm_content.bundle import types
from olm_content.bundle.files import BundleError
from olm_content.bundle.listed_properties import with_properties
from olm_content.bundle.manifests import manifests
from olm_content.bundle.metadata import Metadata, read_metadata
from olm_content.bundle.mode import STRICT, Mode
from olm_content.bundle.model import ClusterServiceVersion, RegistryV1


class Contents(NamedTuple):
    """What the files of a bundle say.

    csv       the ClusterServiceVersion: in its type, or in LENIENT mode as it is written
    head      its metadata, in its type
    crds      definitions, in their types
    others    all other objects
    objects   in LENIENT mode: all objects as they are written, in the order of files
    remarks   in LENIENT mode: what was passed over
    """

    metadata: Metadata
    csv: KubeObject
    head: KubeObject
    crds: tuple[KubeObject, ...]
    others: tuple[KubeObject, ...]
    objects: tuple[KubeObject, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the ClusterServiceVersion."""
        return str(self.head.get("name", ""))

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations of the ClusterServiceVersion."""
        found: dict[str, str] = self.head.get("annotations", {})
        return found

    @property
    def spec(self) -> KubeObject:
        """The spec of the ClusterServiceVersion."""
        found: KubeObject = {} if self.csv.get("spec") is None else self.csv["spec"]
        return found

    @property
    def version(self) -> str:
        """The version that the ClusterServiceVersion says, empty if none."""
        return str(self.spec.get("version") or "")


def read(files: Mapping[str, bytes], mode: Mode) -> Contents:
    """What files say, whose paths are relative to the bundle's root. Raises BundleError."""
    remarks: list[str] = []
    metadata = read_metadata(files, mode, remarks) if mode.metadata_by_name else None
    csv: KubeObject | None = None
    head: KubeObject = {}
    crds: list[KubeObject] = []
    others: list[KubeObject] = []
    objects: list[KubeObject] = []
    for path, obj in manifests(files, mode, remarks):
        match obj.get("kind"):
            case names.CSV_KIND:
                csv, head = types.service_version(path, obj, mode)
            case kind if kind == CRD_KIND:
                crds += types.definition(path, obj, mode)
            case _:
                others.append(obj)
        if not mode.whole_types:
            objects.append(obj)
    if csv is None:
        raise BundleError(f'no {names.CSV_KIND} found in "manifests"')
    if metadata is None:
        metadata = read_metadata(files, mode, remarks)
    found = tuple(crds), tuple(others), tuple(objects), tuple(remarks)
    return Contents(metadata, csv, head, *found)


def load(files: Mapping[str, bytes]) -> RegistryV1:
    """The bundle to install, read in STRICT mode. Raises BundleError."""
    return installable(read(files, STRICT), files)


def installable(contents: Contents, files: Mapping[str, bytes]) -> RegistryV1:
    """The bundle to install of what its files say in STRICT mode. Raises BundleError."""
    annotations = with_properties(contents.annotations, files)
    return RegistryV1(
        package_name=contents.metadata.package,
        csv=ClusterServiceVersion.of(contents.csv, annotations),
        crds=contents.crds,
        others=contents.others,
    )
