"""The objects that `olm rbac` writes, as YAML with a comment on every rule."""

import textwrap
from collections.abc import Iterable

from api.objects import KubeObject
from olm_client.rbac.text import why
from olm_content.formats.yaml_text import Inline, dump_all
from olm_content.rights import Document, NeededRule, policy_rule

WIDTH = 100


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
