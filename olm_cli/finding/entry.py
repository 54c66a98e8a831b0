"""A package in a list: what is shown of it and what its words are. Pure.

Made once for each content of a catalog, from blobs that nobody has checked: whatever has the wrong
type counts as absent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from olm_content.names import BUNDLE, CHANNEL, CSV_METADATA, DEPRECATIONS, PACKAGE
from olm_content.versions import VersionError, parse_version

SUMMARY_LENGTH = 160
"""Characters of the one line that says what a package is for."""

Value = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A package. `version` is that of the default channel's head; `text` is all that it says."""

    name: str
    display_name: str = ""
    version: str = ""
    channel: str = ""
    provider: str = ""
    keywords: tuple[str, ...] = ()
    summary: str = ""
    deprecated: bool = False
    text: str = ""

    def facts(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)

    @classmethod
    def of_facts(cls, facts: dict[str, Any]) -> "Entry":
        """The reverse of `facts`."""
        return cls(**{**facts, "keywords": tuple(facts["keywords"])})


def entry_of(package: str, blobs: Iterable[Value]) -> Entry:
    """The entry of a package from the blobs of it."""
    own: dict[str, list[Value]] = {}
    for blob in blobs:
        own.setdefault(_text(blob.get("schema")), []).append(blob)
    about = next(iter(own.get(PACKAGE, ())), {})
    channel = _text(about.get("defaultChannel"))
    head = _head(channel, own)
    csv = csv_metadata(head)
    annotations = _mapping(csv.get("annotations"))
    description = _text(about.get("description"))
    own_text = _text(csv.get("description"))
    summary = _text(annotations.get("description")) or description or own_text
    return Entry(
        name=package,
        display_name=_text(csv.get("displayName")),
        version=version_of(head),
        channel=channel,
        provider=_text(_mapping(csv.get("provider")).get("name")),
        keywords=tuple(_text(word) for word in _list(csv.get("keywords"))),
        summary=one_line(summary),
        deprecated=any(map(_is_whole, own.get(DEPRECATIONS, ()))),
        text="\n".join(dict.fromkeys(filter(None, (summary, description, own_text)))),
    )


def csv_metadata(bundle: Value) -> Value:
    """What a bundle says of itself for people; empty where it says nothing."""
    return _mapping(_property(bundle, CSV_METADATA))


def version_of(bundle: Value) -> str:
    """The version as the bundle gives it; empty without."""
    return _text(_mapping(_property(bundle, PACKAGE)).get("version"))


def one_line(text: str) -> str:
    """The first sentences of a text, without the marks of Markdown, at most SUMMARY_LENGTH long."""
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    said = next((part for part in paragraphs if part and not part.startswith("#")), "")
    plain = said.replace("**", "").replace("`", "")
    if len(plain) <= SUMMARY_LENGTH:
        return plain
    return plain[: SUMMARY_LENGTH - 1].rpartition(" ")[0].rstrip(" ,;:") + "…"


def _head(channel: str, own: Mapping[str, list[Value]]) -> Value:
    """The bundle at the head of a channel; of several heads the one of the highest version."""
    for blob in own.get(CHANNEL, ()):
        if blob.get("name") != channel:
            continue
        entries = [_mapping(entry) for entry in _list(blob.get("entries"))]
        taken = {_text(entry.get("replaces")) for entry in entries}
        taken |= {_text(name) for entry in entries for name in _list(entry.get("skips"))}
        names = {_text(entry.get("name")) for entry in entries} - taken
        heads = [bundle for bundle in own.get(BUNDLE, ()) if bundle.get("name") in names]
        return max(heads, key=_precedence, default={})
    return {}


def _precedence(bundle: Value) -> tuple[Any, ...]:
    try:
        return parse_version(version_of(bundle)).key
    except VersionError:
        return ()


def _is_whole(deprecations: Value) -> bool:
    references = (
        _mapping(_mapping(entry).get("reference")) for entry in _list(deprecations.get("entries"))
    )
    return any(reference.get("schema") == PACKAGE for reference in references)


def _property(bundle: Value, kind: str) -> Any:
    items = map(_mapping, _list(bundle.get("properties")))
    return next((item.get("value") for item in items if item.get("type") == kind), None)


def _mapping(value: Any) -> Value:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
