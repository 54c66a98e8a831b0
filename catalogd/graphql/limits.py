"""What a query may ask for, looked at before it is run. The numbers are upstream's."""

from collections.abc import Mapping
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

MAX_DEPTH = 10
MAX_INTROSPECTION_DEPTH = 20
"""What clients ask to know the types is deeper, and bounded by the types."""
MAX_ALIASES = 50
MAX_FIELDS = 500


class TooComplexError(ValueError):
    """A query that asks for too much."""


def check_complexity(document: DocumentNode) -> None:
    """Raises TooComplexError. A fragment counts as often as it is used."""
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    budget = _Budget(fragments)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            budget.spend(node.selection_set, depth=1, deepest=MAX_DEPTH)


@dataclass(slots=True)
class _Budget:
    fragments: Mapping[str, FragmentDefinitionNode]
    fields: int = 0
    aliases: int = 0

    def spend(self, selected: SelectionSetNode | None, *, depth: int, deepest: int) -> None:
        if selected is None:
            return
        if depth > deepest:
            raise TooComplexError(f"query exceeds maximum depth of {deepest}")
        for node in selected.selections:
            self.fields += 1
            if self.fields > MAX_FIELDS:
                raise TooComplexError(f"query exceeds maximum field count of {MAX_FIELDS}")
            inner, limit = getattr(node, "selection_set", None), deepest
            if isinstance(node, FieldNode):
                self._count_alias(node)
                if node.name.value.startswith("__"):
                    limit = MAX_INTROSPECTION_DEPTH
            elif isinstance(node, FragmentSpreadNode):
                fragment = self.fragments.get(node.name.value)
                inner = fragment.selection_set if fragment is not None else None
            self.spend(inner, depth=depth + 1, deepest=limit)

    def _count_alias(self, node: FieldNode) -> None:
        self.aliases += node.alias is not None
        if self.aliases > MAX_ALIASES:
            raise TooComplexError(f"query exceeds maximum alias count of {MAX_ALIASES}")
