"""Objects as YAML for people, which every reader takes as it was meant."""

from collections.abc import Iterable
from typing import Any

import yaml

from olm_content.formats.yaml_scalars import resolve_plain


class Inline(list[Any]):
    """A list that is written in one line: `[a, b]`."""


class _Dumper(yaml.CSafeDumper):
    """Text of several lines as blocks; text that looks like something else in quotes."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the library's signature
        """Shared parts are written out wherever they are."""
        return True


def _represent_text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif not isinstance(resolve_plain(text), str):
        style = '"'  # the library's own resolver misses some, such as y and n
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _represent_inline(dumper: yaml.CSafeDumper, items: Inline) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=True)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(Inline, _represent_inline)


def dump_all(objects: Iterable[Any], *, sort_keys: bool = False) -> str:
    """The documents, with `---` between them, keys in the order they have or sorted."""
    text: str = yaml.dump_all(
        objects, Dumper=_Dumper, sort_keys=sort_keys, allow_unicode=True, width=2**31 - 1
    )
    return text
