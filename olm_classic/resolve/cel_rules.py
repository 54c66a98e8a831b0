"""CEL rules of `olm.constraint` over the properties of a bundle.

The library is the one of CEL's own project over its C++ runtime: it checks types before it
evaluates, as upstream's does, and compares numbers across their types. It is loaded with the first
rule.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from olm_classic.resolve.entries import Property, tolerant_version
from olm_classic.resolve.errors import ResolutionError

if TYPE_CHECKING:
    from cel_expr_python import cel

Rule = Callable[[Sequence[Property]], bool]


@lru_cache(maxsize=1024)
def compile_rule(text: str) -> Rule:
    """What a rule says of properties; one that fails says no.

    Raises ResolutionError for what is no rule, and where the library is not installed.
    """
    try:
        from cel_expr_python import cel
    except ImportError as error:
        raise ResolutionError(
            "rules in CEL cannot be evaluated here: cel-expr-python is not installed, "
            "which has no build for macOS"
        ) from error
    try:
        expression = _environment().compile(text)
    except RuntimeError as error:
        raise ResolutionError(f"failed to compile CEL expression: {error}") from error
    if expression.return_type() != cel.Type.BOOL:
        raise ResolutionError("cel expressions must have type Bool")

    def holds(properties: Sequence[Property]) -> bool:
        try:
            given = [{"type": p.get("type"), "value": _doubles(p.get("value"))} for p in properties]
            return expression.eval(data={"properties": given}).value() is True
        except RuntimeError:  # more iterations than the library allows, or levels than Python
            return False

    return holds


@lru_cache(maxsize=1)
def _environment() -> "cel.Env":
    from cel_expr_python import cel

    text, number = cel.Type.STRING, cel.Type.INT
    compare = cel.Overload("semver_compare_texts", number, [text, text], False, _compare)
    return cel.NewEnv(
        variables={"properties": cel.Type.List(cel.Type.Map(text, cel.Type.DYN))},
        functions=[cel.FunctionDecl("semver_compare", [compare])],
    )


def _compare(left: str, right: str) -> int:
    first, second = tolerant_version(left), tolerant_version(right)
    if first is None or second is None:
        raise ValueError("semver_compare: no version")
    return (first.key > second.key) - (first.key < second.key)


def _doubles(value: Any) -> Any:
    """The value with every number a double, as JSON has them."""
    if isinstance(value, dict):
        return {key: _doubles(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_doubles(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
