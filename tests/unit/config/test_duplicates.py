"""Code that stands in two packages is found, whatever its names are."""

from config.duplicates import ALLOWED_LINES, complaints, number_of_lines, shapes, shared, shrunk

PAIR = ("one", "other")


def function(name: str, lines: int) -> str:
    body = "\n".join(f"    {name}_{i} = make_{name}({i}, '{name}')" for i in range(lines))
    return f'def {name}(given: int) -> None:\n    """Does {name}."""\n{body}\n'


def found(one: str, other: str) -> int:
    sides = shared({"one": {"one/a.py": one}, "other": {"other/b.py": other}}).get(PAIR)
    return number_of_lines(sides) if sides else 0


def test_other_names_make_no_other_shape() -> None:
    assert found(function("first", 12), function("second", 12)) == 14  # with head and docstring


def test_short_runs_are_no_duplicates() -> None:
    assert found(function("first", 3), function("second", 3)) == 0


def test_one_package_may_repeat_itself() -> None:
    modules = {"one/a.py": function("first", 12), "one/b.py": function("second", 12)}
    assert shared({"one": modules, "other": {}}) == {}


def test_what_counts_is_what_functions_do() -> None:
    text = '''
"""Text."""
import os
A = make(1)
class C:
    field: int = make(2)
    def f(self, passed: int) -> int:
        """Text."""
        import sys
        # a comment
        names = [
            passed,
        ]
        return go(names, "text", None)
'''
    assert dict(shapes(text)) == {
        7: "def name ( name , name : name ) -> name :",
        14: "return name ( name , value , name )",
    }


def test_ten_lines_are_allowed_and_eleven_are_not() -> None:
    places = {("a.py", line) for line in range(1, ALLOWED_LINES + 1)}
    assert list(complaints({PAIR: {"one": places, "other": places}}, {})) == []
    places |= {("a.py", ALLOWED_LINES + 1)}
    said = list(complaints({PAIR: {"one": places, "other": {("b.py", 7)}}}, {}))
    assert said == [
        "one and other share 11 lines of the same shape, not 10:",
        "  a.py:1-11",
        "  b.py:7-7",
    ]


def test_the_baseline_shrinks_and_never_grows() -> None:
    lines = {PAIR: {side: {(side, line) for line in range(20)} for side in PAIR}}
    assert list(complaints(lines, {PAIR: 20})) == []
    assert "share 20 lines of the same shape, not 19" in next(complaints(lines, {PAIR: 19}))
    assert "share 20 lines, not 21 any more" in next(complaints(lines, {PAIR: 21}))
    assert "share 0 lines, not 21 any more" in next(complaints({}, {PAIR: 21}))
    assert shrunk(lines, {PAIR: 21}) == {PAIR: 20}
    assert shrunk(lines, {PAIR: 19}) == {PAIR: 19}
    assert shrunk({}, {PAIR: 21}) == {}
