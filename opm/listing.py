"""The tables of `opm alpha list`. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from olm_content.fbc.chain import ChainError, head
from olm_content.fbc.packages import property_values
from olm_content.fbc.records import Record, channel_of, properties
from olm_content.formats.go_text import quote
from olm_content.names import BUNDLE, CHANNEL, CSV_METADATA, PACKAGE
from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all
from opm.migrate import embedded_csv

Row = tuple[str, ...]


def packages(records: Iterable[Record]) -> list[Row]:
    """Name, display name of the default channel's head, default channel."""
    given = list(records)
    bundles = {(r.package, r.name): r for r in given if r.schema == BUNDLE}
    heads = {(r.package, r.name): _head(r) for r in given if r.schema == CHANNEL}
    rows: list[Row] = [("NAME", "DISPLAY NAME", "DEFAULT CHANNEL")]
    for each in sorted((r for r in given if r.schema == PACKAGE), key=lambda r: r.name):
        default = each.value["defaultChannel"]
        bundle = bundles.get((each.name, heads.get((each.name, default), "")))
        rows.append((each.name, display_name(bundle) if bundle else "", default))
    return rows


def channels(records: Iterable[Record], package: str = "") -> list[Row]:
    """Package, channel, head, of one package or all. Raises TerminalError for an unknown one."""
    rows = [(each.package, each.name, _head(each)) for each in _of(records, CHANNEL, package)]
    return [("PACKAGE", "CHANNEL", "HEAD"), *sorted(rows)]


def bundles(records: Iterable[Record], package: str = "") -> list[Row]:
    """Package, channel, bundle, its edges and image. Raises TerminalError for an unknown one."""
    given = list(records)
    images = {(r.package, r.name): r.value["image"] for r in given if r.schema == BUNDLE}
    rows = [
        (
            each.package,
            each.name,
            entry.name,
            entry.replaces,
            ",".join(entry.skips),
            entry.skip_range,
            images.get((each.package, entry.name), ""),
        )
        for each in _of(given, CHANNEL, package)
        for entry in channel_of(each).entries
    ]
    title = ("PACKAGE", "CHANNEL", "BUNDLE", "REPLACES", "SKIPS", "SKIP RANGE", "IMAGE")
    return [title, *sorted(rows)]


def _of(records: Iterable[Record], schema: str, package: str) -> list[Record]:
    given = list(records)
    if package and not any(each.package == package for each in given):
        known = {each.package for each in given if each.package}
        hint = suggestion_or_all(package, sorted(known), none="there is none")
        raise TerminalError(f"package {quote(package)} not found", hint=hint)
    return [each for each in given if each.schema == schema and package in {"", each.package}]


def _head(channel: Record) -> str:
    try:
        return head(channel_of(channel))
    except ChainError as error:
        return f"ERROR: {error}"


def display_name(bundle: Record) -> str:
    """What the bundle is called for people; empty when it does not say."""
    for value in property_values(bundle.value, CSV_METADATA):
        if isinstance(value, Mapping):
            return str(value.get("displayName") or "")
    csv = embedded_csv(properties(bundle)) or {}
    return str((csv.get("spec") or {}).get("displayName") or "")


def table(rows: Sequence[Row]) -> str:
    """Columns padded to their widest cell and two blanks; the last column as it is."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    lines = (
        "".join(cell.ljust(width) for cell, width in zip(row[:-1], widths[:-1], strict=True))
        + row[-1]
        for row in rows
    )
    return "\n".join(lines) + "\n"
