"""The basic template: a catalog in which bundles are only named by their image."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import orjson

from olm_content.fbc.documents import Blob
from olm_content.fbc.records import Record, record
from olm_content.formats.canonical_json import canonical
from olm_content.names import BUNDLE
from olm_runtime.errors import OLMError
from opm.templates.template import BASIC, TEMPLATES, RenderBundle, TemplateError, fields

_KEYS = ("schema", "package", "name")


def expand_basic(document: Mapping[str, Any], render: RenderBundle) -> Iterator[Record]:
    """The catalog of a basic template. Raises TemplateError, and what `render` raises."""
    for index, entry in enumerate(fields(document, "the template").get("entries") or ()):
        try:
            each = record(_blob(entry))
        except (OLMError, AttributeError) as error:
            raise TemplateError(f"entries[{index}]: {error}") from error
        if each.schema != BUNDLE:
            yield each
            continue
        if each.package or each.value.get("properties") or each.value.get("relatedImages"):
            raise TemplateError(
                f"entries[{index}]: unexpected fields present in basic template bundle",
                hint="a bundle in a template has schema and image only; the rest is rendered",
            )
        yield from render(each.value["image"])


def _blob(entry: Mapping[str, Any]) -> Blob:
    named = {key.casefold(): value for key, value in entry.items()}
    schema, package, name = (str(named.get(key) or "") for key in _KEYS)
    return Blob(schema, package, name, canonical(dict(entry)))


def to_basic(records: Iterable[Record]) -> dict[str, Any]:
    """The template that a catalog is an expansion of."""
    entries = [
        {"schema": BUNDLE, "image": each.value["image"]} if each.schema == BUNDLE else each.value
        for each in records
    ]
    return {"schema": TEMPLATES[BASIC], "entries": entries}


def blobs_to_basic(blobs: Iterable[Blob]) -> dict[str, Any]:
    """As `to_basic`, for the blobs of a file: in its order, with fields that nobody knows.

    Raises RecordError for a bundle that is none.
    """
    entries = [
        {"schema": BUNDLE, "image": record(blob).value["image"]}
        if blob.schema == BUNDLE
        else orjson.loads(blob.raw)
        for blob in blobs
    ]
    return {"schema": TEMPLATES[BASIC], "entries": entries}
