"""A package in a list: what is shown of it and what its words are. Pure."""

from typing import Any, NamedTuple


class Summary(NamedTuple):
    """A package, and what its default channel's head says.

    text        all that it says in words, casefolded: folding takes as long as searching
    categories  as it names them, such as `Database`
    capability  its level, such as `Seamless Upgrades`
    obstacle    why OLM v1 cannot install it; empty if nothing is known to be in the way
    """

    name: str
    display_name: str = ""
    version: str = ""
    channel: str = ""
    provider: str = ""
    keywords: tuple[str, ...] = ()
    summary: str = ""
    deprecated: bool = False
    categories: tuple[str, ...] = ()
    capability: str = ""
    obstacle: str = ""
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return self._asdict()

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Summary":
        """The reverse of `to_json`."""
        lists = {key: tuple(value[key]) for key in ("keywords", "categories")}
        return cls(**{**value, **lists})
