"""The structs of all tables, by name.

A table is text, one struct each: `Name: field=type ...`. A type is `str`, `int`, `int32`, `bool`,
`float`, `any` (as it is), `bytes`, `time`, `quantity`, `intstr`, `semver`, `release`, a struct's
name, `[]type`, `{}type` (a map), `*type` (absent and empty differ), `schema|bool`, `schema|list` or
`schema|strings`; `!` before it means written even when empty.
"""

import re
from collections.abc import Iterable
from typing import Any

from olm_content.kube_types.crd_types import CRD_TYPES
from olm_content.kube_types.csv_types import CONFIG_TYPES, CSV_TYPES
from olm_content.kube_types.kubernetes_types import KUBERNETES_TYPES
from olm_content.kube_types.release_types import RELEASE_TYPES


def _structs(*tables: str) -> dict[str, tuple[str, ...]]:
    text = re.sub(r"\n +", " ", "\n".join(tables))
    lines: Iterable[str] = filter(None, text.splitlines())
    return {name: tuple(rest.split()) for name, _, rest in (line.partition(":") for line in lines)}


STRUCTS = _structs(CSV_TYPES, CONFIG_TYPES, CRD_TYPES, KUBERNETES_TYPES, RELEASE_TYPES)
"""The fields of each struct, as they are written."""


def fields_of(struct_name: str) -> dict[str, str]:
    """The notation of every field of a struct, by field name."""
    return dict(entry.split("=", 1) for entry in STRUCTS[struct_name])


def in_own_spelling(notation: str, value: Any) -> Any:
    """The value with the names of fields as types spell them: Go's JSON reader takes any case."""
    notation = notation.lstrip("!*")
    if notation.startswith("[]") and isinstance(value, list):
        return [in_own_spelling(notation[2:], item) for item in value]
    if not isinstance(value, dict):
        return value
    if notation.startswith("{}"):
        return {key: in_own_spelling(notation[2:], item) for key, item in value.items()}
    fields = fields_of(notation) if notation in STRUCTS else {}
    folded: dict[str, str] = {name.casefold(): name for name in fields}
    spelled = {folded.get(str(key).casefold(), str(key)): item for key, item in value.items()}
    spelled |= {key: item for key, item in value.items() if key in fields}
    return {name: in_own_spelling(fields.get(name, ""), item) for name, item in spelled.items()}
