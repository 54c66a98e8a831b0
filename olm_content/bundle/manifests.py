"""The objects in the files of `manifests/`."""

from collections.abc import Iterator, Mapping

from api.objects import KubeObject
from olm_content.bundle.documents import kind_of, objects
from olm_content.bundle.files import MANIFESTS, BundleError, files_of, first_documents, paths_in
from olm_content.bundle.mode import STRICT, Mode
from olm_content.names import CSV_KIND


def manifests(
    files: Mapping[str, bytes], mode: Mode = STRICT, remarks: list[str] | None = None
) -> Iterator[tuple[str, KubeObject]]:
    """Every object with the file it came from, in the order of files.

    Raises BundleError naming the file; what a mode passes over is added to `remarks`.
    """
    if mode.every_object:
        yield from _every_object(files)
    else:
        yield from _first_objects(files, [] if remarks is None else remarks)


def _every_object(files: Mapping[str, bytes]) -> Iterator[tuple[str, KubeObject]]:
    paths = paths_in(files, MANIFESTS)
    if not paths:
        raise BundleError(f"stat {MANIFESTS[:-1]}: no such file or directory")
    for path in paths:
        name = path.removeprefix(MANIFESTS)
        if "/" in name:
            raise BundleError(
                'subdirectories are not allowed within the "manifests" directory of the bundle '
                f'image filesystem: found "{MANIFESTS}{name.partition("/")[0]}"'
            )
        if name:
            yield from ((path, obj) for obj in objects(path, files[path]))


def _first_objects(
    files: Mapping[str, bytes], remarks: list[str]
) -> Iterator[tuple[str, KubeObject]]:
    """Nothing is yielded before all files are read: a ClusterServiceVersion has to be there."""
    visible = [path for path in files_of(files, MANIFESTS) if not path.startswith(f"{MANIFESTS}.")]
    found: list[tuple[str, KubeObject]] = []
    csv = ""
    for path, document in first_documents(files, visible, remarks):
        if not isinstance(document, dict) or not kind_of(document):
            remarks.append(f"{path}: no object with a kind and an API version; passed over")
        elif csv and document["kind"] == CSV_KIND:
            remarks.append(f"{path}: a second {CSV_KIND}; passed over")
        else:
            csv = path if document["kind"] == CSV_KIND else csv
            found.append((path, document))
    if not found:
        raise BundleError("no bundle objects found in manifests/")
    if not csv:
        raise BundleError(f"no csv in bundle: none of the manifests is a {CSV_KIND}")
    yield from found
