"""What the documents ask for and upstream's tool accepts: warned of, but no reason to refuse."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from olm_catalogs.validate.faults import Fault
from olm_content.fbc.records import Record, properties
from olm_content.names import BUNDLE, GVK, GVK_REQUIRED, PACKAGE_REQUIRED, SCHEMAS
from olm_content.ranges import RangeError, parse_skip_range

_GROUP = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_VERSION = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?|[a-z]([-a-z0-9]*[a-z0-9])?")
_KIND = re.compile(r"[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?")


def check_records(records: Iterable[Record]) -> Iterator[Fault]:
    """Warnings about single records, whatever package they belong to."""
    for each in records:
        if each.schema.startswith("olm.") and each.schema not in SCHEMAS:
            message = "schemas that begin with olm. are reserved, and this one is not known"
            yield Fault(each.place, f'{each.schema} "{each.name}"', message, warning=True)
        if each.schema == BUNDLE:
            for message in _property_warnings(each):
                yield Fault(each.place, f'bundle "{each.name}"', message, warning=True)


def _property_warnings(bundle: Record) -> Iterator[str]:
    for index, item in enumerate(properties(bundle)):
        value, place = item["value"], f'properties[{index}] of type "{item["type"]}"'
        if not item["type"]:
            yield f"properties[{index}] has no type"
        if isinstance(value, Mapping):
            for message in _value_warnings(item["type"], value):
                yield f"{place}: {message}"


def _value_warnings(kind: str, value: Mapping[str, Any]) -> Iterator[str]:
    if kind in {GVK, GVK_REQUIRED}:
        for key, grammar in (("group", _GROUP), ("version", _VERSION), ("kind", _KIND)):
            text = value.get(key, "")
            if isinstance(text, str) and not grammar.fullmatch(text):
                yield f"{key} {text!r} is none that Kubernetes takes"
    if kind == PACKAGE_REQUIRED:
        if not value.get("packageName"):
            yield "packageName must be set"
        text = value.get("versionRange", "")
        try:
            parse_skip_range(text if isinstance(text, str) else "")
        except RangeError as error:
            yield f"versionRange {text!r} is no version range: {error.message}"
