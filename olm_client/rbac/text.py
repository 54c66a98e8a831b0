"""What `olm rbac` prints: objects with a comment on every rule, and differences."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from api.objects import KubeObject
from olm_content.formats.yaml_text import Inline, dump_all
from olm_content.rights import Document, NeededRule, Purpose, policy_rule
from olm_content.rights.report import line

WIDTH = 100
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


def commented(title: str, documents: Iterable[Document]) -> str:
    """The objects as YAML to apply."""
    return f"# {title}\n" + "---\n".join(_yaml(document) for document in documents)


def _yaml(document: Document) -> str:
    obj: KubeObject = {key: value for key, value in document.obj.items() if key != "rules"}
    text = dump_all([obj])
    if document.rules:
        text += "rules:\n" + "".join(map(_yaml_rule, document.rules))
    return text


def _yaml_rule(needed: NeededRule) -> str:
    rule = {key: Inline(words) for key, words in policy_rule(needed.rule).items()}
    return _comment(why(needed)) + dump_all([[rule]])


def _comment(text: str) -> str:
    return "".join(
        f"# {part}\n"
        for part in textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    )


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
