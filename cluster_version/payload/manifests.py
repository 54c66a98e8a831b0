"""The manifests of a file of a release. Source of the rules: upstream's notes, section 5.4."""

from collections.abc import Iterator
from dataclasses import dataclass

from api.objects import GVK, KubeObject, gvk_of, name_of, namespace_of
from cluster_version.payload.task_graph import File
from olm_content.formats.go_text import quote
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_runtime.errors import TerminalError

JOB = GVK("batch", "v1", "Job")


class ManifestError(TerminalError):
    """A file holds what is no manifest, or one twice."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What names an object whatever its version; `namespace` is empty for cluster-scoped kinds."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        """As errors name it."""
        place = f"Namespace: {quote(self.namespace)} " if self.namespace else ""
        kind = f"Group: {quote(self.group)} Kind: {quote(self.kind)}"
        return f"{kind} {place}Name: {quote(self.name)}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """An object of a release, and the name of the file that it is from."""

    file_name: str
    object: KubeObject

    @property
    def identity(self) -> Identity:
        """Two with the same one are the same object."""
        return identity_of(self.object)

    @property
    def file(self) -> File:
        """What its place in the order depends on."""
        return File(self.file_name, is_job=gvk_of(self.object) == JOB)


def identity_of(obj: KubeObject) -> Identity:
    """What names an object."""
    gvk = gvk_of(obj)
    return Identity(gvk.group, gvk.kind, namespace_of(obj), name_of(obj))


def parse_manifests(file_name: str, content: bytes) -> Iterator[Manifest]:
    """The manifests of a file, YAML or JSON. Raises ManifestError."""
    seen = set()
    try:
        for document in load_all(content):
            manifest = Manifest(file_name, _checked(document))
            if manifest.identity in seen:
                raise ManifestError(f"duplicate resource: ({manifest.identity})")
            seen.add(manifest.identity)
            yield manifest
    except YamlError as error:
        raise ManifestError(f"error parsing: {error.message}") from error


def _checked(document: object) -> KubeObject:
    """An object with a kind and a name. Raises ManifestError."""
    if not isinstance(document, dict):
        raise ManifestError("error parsing: a manifest is a map")
    meta = document.get("metadata") or {}
    texts = (document.get("kind"), meta.get("name") if isinstance(meta, dict) else None)
    if not all(isinstance(text, str) and text for text in texts):
        named = {**document, "metadata": meta if isinstance(texts[1], str) else {}}
        fields = f"Resource with fields {identity_of(named)}"
        raise ManifestError(
            f"error parsing: {fields} must contain kubernetes required fields kind and name"
        )
    if isinstance(document.get("items"), list):
        raise ManifestError(f"error parsing: {texts[0]} is a list, and a manifest one object")
    return document
