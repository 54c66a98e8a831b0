"""Manifests of a release in messages. Source of the rules: upstream's notes, section 11.1."""

from api.objects import gvk_of, name_of, namespace_of
from cluster_version.errors import UpdateError
from cluster_version.health.summaries import Cause
from cluster_version.payload.manifests import Manifest


def described(manifest: Manifest, position: int, total: int) -> str:
    """A manifest and its place, counted from 1; one without a name has that of its file."""
    obj = manifest.object
    name = name_of(obj) or manifest.file_name
    place = "/".join(part for part in (namespace_of(obj), name) if part)
    return f'{gvk_of(obj).kind.lower()} "{place}" ({position} of {total})'


def not_applied(
    manifest: Manifest, position: int, total: int, cause: Cause, detail: str = ""
) -> UpdateError:
    """The error of a manifest that could not be applied; `detail` is for logs."""
    text = ": ".join(filter(None, (described(manifest, position, total), cause.text)))
    return UpdateError(f"Could not update {text}", reason=cause.reason, detail=detail)
