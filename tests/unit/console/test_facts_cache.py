"""Facts of objects that pages list again and again."""

from typing import Any

from api.objects import KubeObject
from console.facts_cache import FactsCache


def an_object(name: str) -> KubeObject:
    return {"metadata": {"name": name}}


def test_only_what_changed_is_found_out_anew() -> None:
    asked: list[str] = []

    def facts_of(obj: KubeObject) -> dict[str, Any]:
        asked.append(obj["metadata"]["name"])
        return {"name": obj["metadata"]["name"], "asked": len(asked)}

    cache, one, two = FactsCache(facts_of, list), an_object("one"), an_object("two")
    first = cache.of([one, two])
    assert cache.of([two, one]) == first[::-1]
    assert asked == ["one", "two"]
    changed = an_object("two")
    assert cache.of([one, changed]) == [first[0], {"name": "two", "asked": 3}]
    assert cache.of([changed]) == [{"name": "two", "asked": 3}]
    assert cache.of([one, changed])[0] == {"name": "one", "asked": 4}, "what is gone is forgotten"
