"""The tables of `opm alpha list`. Pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter

from olm_content.fbc.chain import ChainError, head
from olm_content.fbc.packages import property_values
from olm_content.fbc.records import Record, channel_of, properties
from olm_content.formats.go_text import quote
from olm_content.names import BUNDLE, CHANNEL, CSV_METADATA, PACKAGE
from olm_runtime.errors import TerminalError
from olm_runtime.suggestions import suggestion_or_all
from opm.migrate import embedded_csv

Row = Mapping[str, str | list[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a value for each column; columns are named as fields of JSON are."""

    columns: tuple[str, ...]
    rows: list[Row]

    def text(self) -> str:
        """With titles; padded to the widest cell and two blanks, the last column as it is."""
        titles = tuple(re.sub(r"(?=[A-Z])", " ", name).upper() for name in self.columns)
        lines = [titles, *(tuple(map(_cell, map(row.get, self.columns))) for row in self.rows)]
        widths = [max(map(len, column)) + 2 for column in zip(*lines, strict=True)][:-1]
        return "".join(
            "".join(map(str.ljust, cells, widths)) + f"{last}\n" for *cells, last in lines
        )


def _cell(value: str | list[str] | None) -> str:
    return ",".join(value) if isinstance(value, list) else value or ""


def packages(records: Iterable[Record]) -> Table:
    """Name, display name of the default channel's head, default channel."""
    given = list(records)
    bundles = {(r.package, r.name): r for r in given if r.schema == BUNDLE}
    heads = {(r.package, r.name): _head(r) for r in given if r.schema == CHANNEL}
    rows: list[Row] = []
    for each in sorted((r for r in given if r.schema == PACKAGE), key=lambda r: r.name):
        default = each.value["defaultChannel"]
        bundle = bundles.get((each.name, heads.get((each.name, default), "")))
        shown = display_name(bundle) if bundle else ""
        rows.append({"name": each.name, "displayName": shown, "defaultChannel": default})
    return Table(("name", "displayName", "defaultChannel"), rows)


def channels(records: Iterable[Record], package: str = "") -> Table:
    """Package, channel, head, of one package or all. Raises TerminalError for an unknown one."""
    columns = ("package", "channel", "head")
    rows: list[Row] = [
        {"package": each.package, "channel": each.name, "head": _head(each)}
        for each in _of(records, CHANNEL, package)
    ]
    return Table(columns, sorted(rows, key=itemgetter(*columns)))


def bundles(records: Iterable[Record], package: str = "") -> Table:
    """Package, channel, bundle, its edges and image. Raises TerminalError for an unknown one."""
    given = list(records)
    images = {(r.package, r.name): r.value["image"] for r in given if r.schema == BUNDLE}
    rows: list[Row] = [
        {
            "package": each.package,
            "channel": each.name,
            "bundle": entry.name,
            "replaces": entry.replaces,
            "skips": list(entry.skips),
            "skipRange": entry.skip_range,
            "image": images.get((each.package, entry.name), ""),
        }
        for each in _of(given, CHANNEL, package)
        for entry in channel_of(each).entries
    ]
    columns = ("package", "channel", "bundle", "replaces", "skips", "skipRange", "image")
    return Table(columns, sorted(rows, key=itemgetter(*columns[:3])))


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
