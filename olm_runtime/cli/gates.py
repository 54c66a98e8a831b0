"""Feature gates: a comma-separated map of booleans, which may be given several times."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import click

from olm_runtime.cli.values import parse_bool

ALL_ALPHA = "AllAlpha"
ALL_BETA = "AllBeta"


@dataclass(frozen=True, slots=True)
class Gate:
    """A feature gate. `alpha`: upstream calls it so; `without_effect`: why it does nothing."""

    default: bool
    alpha: bool = False
    without_effect: str = ""


def feature_gates(
    texts: Iterable[str], known: Mapping[str, Gate], log: logging.Logger
) -> dict[str, bool]:
    """The state of each known gate: as named, else as AllAlpha says of alpha ones, else as usual.

    Unknown ones are warned about and change nothing. Raises BadParameter for text that is no map of
    booleans.
    """
    named = _named(texts)
    for name in named.keys() - known.keys() - {ALL_ALPHA, ALL_BETA}:
        log.warning("unknown feature gate %s is ignored", name)
    if ALL_BETA in named:
        log.warning("feature gate %s has no effect: no feature is beta", ALL_BETA)
    gates = {}
    for name, gate in known.items():
        usual = named.get(ALL_ALPHA, gate.default) if gate.alpha else gate.default
        gates[name] = named.get(name, usual)
        if gates[name] and gate.without_effect:
            log.warning("feature gate %s has no effect: %s", name, gate.without_effect)
    return gates


def _named(texts: Iterable[str]) -> dict[str, bool]:
    named: dict[str, bool] = {}
    for part in filter(None, (p.strip() for text in texts for p in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals:
            raise click.BadParameter(f"feature gate {part!r}: say NAME=true or NAME=false")
        try:
            named[name.strip()] = parse_bool(value.strip())
        except click.BadParameter as error:
            raise click.BadParameter(f"feature gate {part!r}: {error.message}") from error
    return named
