"""The search for the preferred solution, and for what contradicts where there is none.

Choices are made breadth first, from what is mandatory: of each the first that some solution has,
together with those made before. So the answer is the same as that of a search with backtracking,
and each step is one question to the SAT solver. It is asked in portions, to keep the limit.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from pysat.card import CardEnc, EncType
from pysat.formula import IDPool
from pysat.solvers import Minisat22

from olm_classic.resolve.errors import Limit, UnsatisfiableError
from olm_classic.resolve.variables import AtMostOne, Variable

PORTION = 2_000
"""Conflicts between two looks at the clock."""
PAIRWISE = 6
"""Up to so many variables each pair is a clause; more are counted."""


def solve(
    variables: Mapping[str, Variable], invariants: Iterable[AtMostOne], limit: Limit
) -> list[str]:
    """The ids of what is in the solution. Raises UnsatisfiableError, ResolutionError at a limit."""
    with _Problem(variables, invariants, limit) as problem:
        return problem.chosen()


class _Problem:
    def __init__(
        self, variables: Mapping[str, Variable], invariants: Iterable[AtMostOne], limit: Limit
    ) -> None:
        self._variables = variables
        self._limit = limit
        self._pool = IDPool()
        self._solver = Minisat22()
        self._literals = {id_: self._pool.id(id_) for id_ in sorted(variables)}
        self._texts: dict[int, str] = {}
        for id_ in sorted(variables):
            limit.check()
            self._constrain(variables[id_])
        for each in invariants:
            self._at_most_one(each)
        self._rules = list(reversed(self._texts))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.delete()

    def chosen(self) -> list[str]:
        """The preferred solution."""
        if not self._satisfiable(self._rules):
            raise UnsatisfiableError(self._texts[rule] for rule in self._core())
        taken: dict[str, None] = {}
        anchors = sorted(id_ for id_, v in self._variables.items() if v.mandatory)
        choices = deque[tuple[str, ...]]((anchor,) for anchor in anchors)
        model = self._model()
        while choices:
            options = choices.popleft()
            if any(option in taken for option in options):
                continue
            for option in options:
                literal = self._literals[option]
                assumed = [*self._rules, *(self._literals[id_] for id_ in taken), literal]
                if literal in model or self._satisfiable(assumed):
                    model = model if literal in model else self._model()
                    taken[option] = None
                    choices.extend(choice.of for choice in self._variables[option].choices)
                    break
        return list(taken)

    def _constrain(self, variable: Variable) -> None:
        own = self._literals[variable.id]
        if variable.mandatory:
            self._rule(variable.mandatory, [[own]])
        if variable.prohibited:
            self._rule(variable.prohibited, [[-own]])
        for choice in variable.choices:
            self._rule(choice.text, [[-own, *(self._literals[id_] for id_ in choice.of)]])
        for other, text in variable.conflicts.items():
            self._rule(text, [[-own, -self._literals[other]]])

    def _at_most_one(self, rule: AtMostOne) -> None:
        literals = Counter(self._literals[id_] for id_ in rule.of)
        distinct = sorted(literals)
        clauses = [[-one] for one in distinct if literals[one] > 1]
        if len(distinct) > 1:
            encoding = EncType.pairwise if len(distinct) <= PAIRWISE else EncType.ladder
            counted = CardEnc.atmost(distinct, 1, vpool=self._pool, encoding=encoding)
            clauses += counted.clauses
        self._rule(rule.text, clauses)

    def _rule(self, text: str, clauses: Iterable[list[int]]) -> None:
        """The clauses, as long as the literal of the rule is assumed."""
        rule = self._pool.id(("rule", len(self._texts)))
        self._texts[rule] = text
        for clause in clauses:
            self._solver.add_clause([-rule, *clause])

    def _satisfiable(self, assumed: list[int]) -> bool:
        while True:
            self._limit.check()
            self._solver.conf_budget(PORTION)
            found = self._solver.solve_limited(assumptions=assumed)
            if found is not None:
                return bool(found)

    def _model(self) -> set[int]:
        return {literal for literal in self._solver.get_model() or () if literal > 0}

    def _core(self) -> Iterator[int]:
        """Rules that contradict one another, each needed for it as far as a short look tells."""
        core = sorted(self._solver.get_core() or self._rules)
        remaining = list(core)
        for rule in core:
            rest = [each for each in remaining if each != rule]
            if rule in remaining and self._quickly_unsatisfiable(rest):
                smaller = set(self._solver.get_core() or ())
                remaining = [each for each in rest if each in smaller]
        yield from remaining

    def _quickly_unsatisfiable(self, assumed: list[int]) -> bool:
        self._limit.check()
        self._solver.conf_budget(PORTION)
        return self._solver.solve_limited(assumptions=assumed) is False
