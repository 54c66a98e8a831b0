"""How schemas and JSON keys are called in GraphQL. Rules are upstream's (catalogd 1.11)."""

import re

_NO_NAME = re.compile(r"[^a-zA-Z0-9_]")
_NO_WORD = re.compile(r"[^a-zA-Z0-9]+")
_LETTER = re.compile(r"[a-zA-Z]")


def root_name(schema: str) -> str:
    """The query field that lists the objects of a schema: `olm.bundle` is `olmbundles`."""
    return _beginning_with_letter(_NO_WORD.sub("", schema).lower() + "s")


def type_name(text: str) -> str:
    """The type of a schema's objects, or of a key's: `olm.bundle` is `OlmBundle`."""
    parts = [part for part in _NO_WORD.split(text.lstrip("0123456789")) if part]
    return "".join(map(_capitalised, parts)) or "Unknown"


def field_name(key: str) -> str:
    """The field of a JSON key, in camel case: `default-channel` is `defaultChannel`."""
    if not key:
        return "value"
    first, *others = [part for part in _NO_NAME.sub("_", key).split("_") if part] or [""]
    first = first.lower() if first.upper() == first else first[:1].lower() + first[1:]
    return _beginning_with_letter(first + "".join(map(_capitalised, others)))


def _capitalised(part: str) -> str:
    return part[:1].upper() + part[1:].lower()


def _beginning_with_letter(name: str) -> str:
    return name if _LETTER.match(name) else f"field_{name}"
