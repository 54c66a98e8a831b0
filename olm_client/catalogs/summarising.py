"""Makes of the objects of a package what lists and completion have of it. Pure.

Done once for each content of a catalog, so that neither people nor shells wait for it; from objects
that nobody has checked: whatever has the wrong type counts as absent.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from olm_client.catalogs.choices import Choices
from olm_client.catalogs.obstacles import obstacles
from olm_client.catalogs.summary import Summary
from olm_content.fbc.packages import (
    property_values,
    read_channel,
    read_deprecations,
    version_text,
)
from olm_content.fbc.reading import Reader
from olm_content.names import (
    ANNOTATION_SUGGESTED_NAMESPACE,
    BUNDLE,
    BUNDLE_OBJECT,
    CHANNEL,
    CSV_METADATA,
    DEPRECATIONS,
    PACKAGE,
    REQUIREMENTS,
)
from olm_content.versions import VersionError, parse_version

SUMMARY_LENGTH = 160
"""Characters of the one line that says what a package is for."""

Value = Mapping[str, Any]


def summary_of(package: str, blobs: Iterable[Value]) -> Summary:
    """The summary of a package from the objects of it."""
    own: dict[str, list[Value]] = {}
    for blob in blobs:
        own.setdefault(Reader(blob).text("schema"), []).append(blob)
    about = Reader(next(iter(own.get(PACKAGE, ())), {}))
    channel = about.text("defaultChannel")
    head = _head(channel, own)
    metadata = csv_metadata(head)
    csv = Reader(metadata)
    annotations = csv.inner("annotations")
    required = (each.text("type") for each in Reader(head).objects("properties"))
    problems = obstacles(
        (kind for kind in required if kind in REQUIREMENTS),
        supported_modes(csv),
        known=bool(metadata),
    )
    description, csv_description = about.text("description"), csv.text("description")
    summary = annotations.text("description") or description or csv_description
    return Summary(
        name=package,
        display_name=csv.text("displayName"),
        version=version_text(head),
        channel=channel,
        provider=csv.inner("provider").text("name"),
        keywords=csv.texts("keywords"),
        summary=one_line(summary),
        deprecated=any(map(_is_whole, own.get(DEPRECATIONS, ()))),
        categories=tuple(_listed(annotations.text("categories"))),
        capability=annotations.text("capabilities"),
        obstacle="; ".join(problems),
        text="\n".join(
            dict.fromkeys(filter(None, (summary, description, csv_description)))
        ).casefold(),
    )


def _listed(text: str) -> Iterator[str]:
    """The parts of a list that commas join."""
    return filter(None, map(str.strip, text.split(",")))


def supported_modes(csv: Reader) -> list[str]:
    """The install modes that a bundle supports, as its metadata says."""
    return [mode.text("type") for mode in csv.objects("installModes") if mode.get("supported")]


def icon_of(blobs: Iterable[Value]) -> tuple[str, str]:
    """Media type and base64 text of a package's icon, as it says them; empty without one."""
    about: Value = next((each for each in blobs if each.get("schema") == PACKAGE), {})
    icon = Reader(about).inner("icon")
    return icon.text("mediatype"), icon.text("base64data")


def csv_metadata(bundle: Value) -> Value:
    """What a bundle says of itself for people; empty where it says nothing."""
    value = next(iter(property_values(bundle, CSV_METADATA)), None)
    return value if isinstance(value, Mapping) else _of_embedded_csv(bundle)


def _of_embedded_csv(bundle: Value) -> Value:
    """The same of a bundle of the older form, which holds its ClusterServiceVersion as a whole."""
    objects = property_values(bundle, BUNDLE_OBJECT)
    if not objects:
        return {}
    from opm.migrate import embedded_csv  # late: what reads summaries needs no YAML

    csv = Reader(embedded_csv({"type": BUNDLE_OBJECT, "value": each} for each in objects) or {})
    spec, annotations = csv.get("spec"), csv.inner("metadata").get("annotations")
    return {**spec, "annotations": annotations} if isinstance(spec, Mapping) else {}


def precedence(version: str) -> tuple[Any, ...]:
    """What versions are ordered by; what is none is below all that are."""
    try:
        return parse_version(version).key
    except VersionError:
        return ()


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
    blob = next((each for each in own.get(CHANNEL, ()) if each.get("name") == channel), None)
    if blob is None:
        return {}
    names = set(read_channel(Reader(blob)).heads)
    heads = [bundle for bundle in own.get(BUNDLE, ()) if bundle.get("name") in names]
    return max(heads, key=lambda bundle: precedence(version_text(bundle)), default={})


def _is_whole(deprecations: Value) -> bool:
    return any(each.schema == PACKAGE for each in read_deprecations(Reader(deprecations)))


def choices_of(blobs: Iterable[Value]) -> Choices:
    """The choices of a package from the objects of it; what has the wrong type counts as absent."""
    own = list(blobs)
    bundles = {str(each.get("name")): each for each in own if each.get("schema") == BUNDLE}
    versions = {name: text for name, each in bundles.items() if (text := version_text(each))}
    channels = {
        channel.name: _newest_first(versions.get(entry.name, "") for entry in channel.entries)
        for each in own
        if each.get("schema") == CHANNEL
        for channel in [read_channel(Reader(each))]
    }
    newest = max(versions, key=lambda name: precedence(versions[name]), default="")
    annotations = Reader(csv_metadata(bundles.get(newest, {}))).inner("annotations")
    return Choices(
        channels=channels,
        versions=_newest_first(versions.values()),
        namespace=annotations.text(ANNOTATION_SUGGESTED_NAMESPACE),
    )


def _newest_first(versions: Iterable[str]) -> list[str]:
    return sorted(filter(None, set(versions)), key=precedence, reverse=True)
