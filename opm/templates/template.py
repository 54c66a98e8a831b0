"""What templates have in common: one document with a schema that names its kind."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from olm_content.fbc.records import Record
from olm_content.formats.go_text import quote
from olm_content.formats.kube_yaml import YamlError, load_all
from olm_content.names import TEMPLATE_BASIC, TEMPLATE_SEMVER
from olm_runtime.errors import TerminalError

BASIC, SEMVER = "basic", "semver"
TEMPLATES: Mapping[str, str] = MappingProxyType({BASIC: TEMPLATE_BASIC, SEMVER: TEMPLATE_SEMVER})
"""Kinds of templates and the schema of each."""

RenderBundle = Callable[[str], list[Record]]
"""The records of a bundle by its image reference."""


class TemplateError(TerminalError):
    """A template that cannot be expanded."""


def fields(value: Any, place: str, known: Collection[str] = ()) -> dict[str, Any]:
    """The fields of an object by their names in lower case; of all names, unless some are `known`.

    Names match whatever their case: much is written `Schema` and `Bundles`. Raises TemplateError.
    """
    if not isinstance(value, dict | None):
        raise TemplateError(f"{place}: expected fields, got {value!r}")
    given = value or {}
    unknown = sorted(key for key in given if known and key.casefold() not in known)
    if unknown:
        raise TemplateError(f"unknown field {quote(unknown[0])} in {place}")
    return {key.casefold(): child for key, child in given.items()}


def parse_template(data: bytes, kind: str = "") -> tuple[str, dict[str, Any]]:
    """The kind and the document of a template. Raises TemplateError.

    Without `kind` the schema names it.
    """
    try:
        document: Any = next(iter(load_all(data, unique_keys=True)), None)
    except YamlError as error:
        message = f"the template cannot be read: line {error.line}: {error.message}"
        raise TemplateError(message) from error
    schema = fields(document, "the template").get("schema")
    known = {schema: kind for kind, schema in TEMPLATES.items()}
    if schema not in known or (kind and known[schema] != kind):
        expected = f'"{TEMPLATES[kind]}"' if kind else " or ".join(f'"{s}"' for s in known)
        raise TemplateError(
            f"template has unknown schema ({schema!r}), should be {expected}",
            hint="a template begins with its schema",
        )
    return known[schema], document
