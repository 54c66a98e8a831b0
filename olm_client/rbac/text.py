"""What rules are for, and how they differ, in words and as data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from olm_content.rights import NeededRule, Purpose, policy_rule
from olm_content.rights.report import line

LISTED = 6
"""Names in a comment; the rule itself has the rest."""

_SENTENCES = {
    Purpose.OWN: "{} owns what is installed",
    Purpose.MANAGE: "{}",
    Purpose.HAND_OUT: "handed out by {}",
    Purpose.HAND_OUT_UNHELD: "instead of holding what is handed out by {}",
    Purpose.REPLACE: "until the update is through: {}",
}


def why(needed: NeededRule) -> str:
    """The objects that a rule is for, and how: `Deployment a, b; handed out by ClusterRole c`."""
    objects: dict[Purpose, dict[str, list[str]]] = {}
    for reason in sorted(needed.reasons):
        objects.setdefault(reason.purpose, {}).setdefault(reason.kind, []).append(reason.name)
    return "; ".join(_SENTENCES[p].format(_objects(kinds)) for p, kinds in objects.items())


def _objects(kinds: Mapping[str, Sequence[str]]) -> str:
    """A binding is mostly called like its role: such names are said once."""
    alike: dict[str, list[str]] = {}
    for kind, names in kinds.items():
        alike.setdefault(_listed(names), []).append(kind)
    return ", ".join(f"{', '.join(same)} {names}" for names, same in alike.items())


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def difference(title: str, needed: Sequence[NeededRule], unneeded: Sequence[NeededRule]) -> str:
    """What an update needs in addition and no longer, for people, in the documents' form."""
    lines = [
        title,
        *_section("needed in addition", "+", needed),
        *_section("no longer needed", "-", unneeded),
    ]
    return "\n".join(lines) + "\n"


def _section(title: str, sign: str, rules: Sequence[NeededRule]) -> Iterator[str]:
    yield f"{title}:" if rules else f"{title}: nothing"
    for needed in rules:
        yield f"{sign} {line(needed.rule)}"
        yield f"    {why(needed)}"


def facts(rules: Iterable[NeededRule]) -> list[dict[str, Any]]:
    """Rules as data: where they count, the rule, and the objects that need it."""
    return [
        {
            "namespace": needed.rule.namespace,
            "rule": policy_rule(needed.rule),
            "objects": [
                {"kind": reason.kind, "name": reason.name} for reason in sorted(needed.reasons)
            ],
        }
        for needed in rules
    ]
