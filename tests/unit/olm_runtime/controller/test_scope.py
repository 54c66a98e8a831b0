"""Which namespaces a controller has."""

from olm_runtime.controller.scope import Scope


def test_none_named_are_all_and_what_has_no_namespace_is_inside() -> None:
    assert Scope(frozenset()).has("any")
    some = Scope(frozenset({"a", "b"}))
    assert some.has("a")
    assert some.has("")
    assert not some.has("c")
