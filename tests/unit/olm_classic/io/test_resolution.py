"""Resolutions in processes of their own: hostile catalogs hurt only the namespaces that see them.

Bounds are smaller than a program's, so that they are met soon.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from olm_classic.io.entry_index import IndexReader, write_index
from olm_classic.io.resolution import Resolver
from olm_classic.resolve import (
    Catalog,
    Entry,
    Namespace,
    ResolutionError,
    SourceKey,
    UnsatisfiableError,
)
from tests.unit.olm_classic.resolve.test_bounds import KEY, bundle, pigeons

Make = Callable[[str, Iterable[Entry]], Namespace]


@pytest.fixture
def namespace(tmp_path: Path) -> Make:
    """A namespace with a Subscription to each package of a catalog on disk."""

    def make(name: str, entries: Iterable[Entry]) -> Namespace:
        given = list(entries)
        file = tmp_path / f"{name}.sqlite"
        write_index(file, given)
        subscriptions = tuple(subscription(each) for each in sorted({e.package for e in given}))
        groups = ({"metadata": {"name": "og"}, "spec": {}},)
        catalog = Catalog(KEY, 0, IndexReader(file, KEY))
        return Namespace(name, "olm", groups, subscriptions, (), (catalog,))

    return make


def subscription(package: str) -> dict[str, Any]:
    spec = {"name": package, "source": "cat", "sourceNamespace": "olm"}
    return {"metadata": {"name": package}, "spec": spec}


@pytest.fixture
async def resolver() -> AsyncGenerator[Resolver, None]:
    made = Resolver(seconds=3, memory=48 << 20)
    yield made
    await made.close()


def cel(rule: str) -> dict[str, Any]:
    return {"type": "olm.constraint", "value": {"cel": {"rule": rule}}}


async def test_a_process_answers_again_and_again(resolver: Resolver, namespace: Make) -> None:
    asked = namespace("a", [bundle("a", 0), bundle("a", 1)])
    first = await resolver.resolve_namespace(asked)
    again = await resolver.resolve_namespace(asked)
    assert [each.entry.name for each in first.planned] == ["a.v1"]
    assert first.updated == again.updated == (("a", "a.v1"),)
    assert first.chosen[0].entry.source == SourceKey("cat", "olm")


async def test_a_process_that_waited_answers_the_first_question(
    resolver: Resolver, namespace: Make
) -> None:
    resolver.prepare()
    assert resolver._spare is not None
    waiting = await resolver._spare
    await resolver.resolve_namespace(namespace("a", [bundle("a", 0)]))
    assert resolver._idle == [waiting]
    resolver._dismiss(waiting)
    await waiting._process.wait()
    assert resolver._spare is not None
    assert await resolver._spare is not waiting


async def test_errors_are_those_of_the_resolver(resolver: Resolver, namespace: Make) -> None:
    needed = {"type": "olm.gvk.required", "value": {"group": "g", "version": "v1", "kind": "K"}}
    with pytest.raises(UnsatisfiableError, match="requires an operator providing an API"):
        await resolver.resolve_namespace(namespace("a", [bundle("a", 0, needed)]))
    with pytest.raises(ResolutionError, match="failed to compile CEL") as raised:
        await resolver.resolve_namespace(namespace("b", [bundle("a", 0, cel("1 +"))]))
    assert not isinstance(raised.value, UnsatisfiableError)


async def test_content_that_is_replaced_while_an_error_is_explained_hides_nothing(
    resolver: Resolver, namespace: Make, tmp_path: Path
) -> None:
    asked = namespace("a", [bundle("a", 0)])
    broken = Catalog(SourceKey("broken", "olm"), 0, problem="there is no connection")
    (tmp_path / "a.sqlite").unlink()
    with pytest.raises(ResolutionError, match="catalogsource olm/broken: there is no connection"):
        await resolver.resolve_namespace(replace(asked, catalogs=(*asked.catalogs, broken)))


async def test_a_search_without_end_is_ended(namespace: Make) -> None:
    resolver = Resolver(seconds=1, memory=48 << 20)
    with pytest.raises(ResolutionError, match="took longer than"):
        await resolver.resolve_namespace(namespace("hostile", pigeons(13)))
    await resolver.close()


async def test_other_namespaces_go_on_next_to_those_that_were_over_a_bound(
    namespace: Make,
) -> None:
    resolver = Resolver(seconds=600)
    hostile = [namespace(f"hostile-{number}", pigeons(13)) for number in range(3)]
    honest = namespace("honest", [bundle("a", 0)])
    resolver._slow.update(each.name for each in hostile)
    attacks = [asyncio.create_task(resolver.resolve_namespace(each)) for each in hostile]
    await asyncio.sleep(0)
    for _ in range(3):
        await resolver.resolve_namespace(honest)
    assert not any(attack.done() for attack in attacks)
    for attack in attacks:
        attack.cancel()
    await asyncio.gather(*attacks, return_exceptions=True)
    await resolver.close()


@pytest.mark.parametrize(
    "rule",
    [
        "".join(f"properties.all({name}, " for name in "abcdefgh") + "true" + ")" * 8,
        "(" * 100_000 + "true" + ")" * 100_000,
        "||".join(["true"] * 15_000),
        '"' + "a" * 60_000 + '".matches("' + "(a*)*" * 1_000 + 'b")',
    ],
    ids=["loops", "nesting", "terms", "patterns"],
)
async def test_rules_that_explode(resolver: Resolver, namespace: Make, rule: str) -> None:
    many = [{"type": "x", "value": number} for number in range(1_000)]
    with pytest.raises(ResolutionError):
        await resolver.resolve_namespace(
            namespace("a", [bundle("a", n, *many, cel(rule)) for n in range(5)])
        )
    await resolver.resolve_namespace(namespace("b", [bundle("a", 0)]))


async def test_very_many_bundles_in_a_package(resolver: Resolver, namespace: Make) -> None:
    asked = namespace("a", (bundle("a", minor) for minor in range(20_000)))
    with pytest.raises(ResolutionError, match=r"takes more than|more than 50000|took longer"):
        await resolver.resolve_namespace(asked)


async def test_giant_properties(namespace: Make) -> None:
    def giant(number: int) -> dict[str, Any]:
        return {"type": "x", "value": f"{number}{'x' * 900_000}"}

    resolver = Resolver(seconds=60, memory=48 << 20)
    asked = namespace("a", [bundle("a", minor, giant(minor)) for minor in range(60)])
    with pytest.raises(ResolutionError, match="takes more than 48 MiB of memory"):
        await resolver.resolve_namespace(asked)
    assert (await resolver.resolve_namespace(namespace("b", [bundle("a", 0)]))).planned
    await resolver.close()


async def test_a_process_that_was_killed_is_replaced(resolver: Resolver, namespace: Make) -> None:
    asked = namespace("a", [bundle("a", 0)])
    await resolver.resolve_namespace(asked)
    (worker,) = resolver._idle
    worker._process.kill()
    await worker._process.wait()
    assert (await resolver.resolve_namespace(asked)).planned


async def test_a_process_that_was_killed_before_its_first_question_is_replaced(
    resolver: Resolver, namespace: Make
) -> None:
    resolver.prepare()
    assert resolver._spare is not None
    waiting = await resolver._spare
    waiting._process.kill()
    await waiting._process.wait()
    assert (await resolver.resolve_namespace(namespace("a", [bundle("a", 0)]))).planned


async def test_a_process_whose_pipe_is_closed_is_replaced(
    resolver: Resolver, namespace: Make
) -> None:
    asked = namespace("a", [bundle("a", 0)])
    await resolver.resolve_namespace(asked)
    (worker,) = resolver._idle
    assert worker._process.stdin is not None
    worker._process.stdin.close()
    assert (await resolver.resolve_namespace(asked)).planned


async def test_a_catalog_whose_file_is_gone(resolver: Resolver, namespace: Make) -> None:
    asked = namespace("a", [bundle("a", 0)])
    content = asked.catalogs[0].content
    assert isinstance(content, IndexReader)
    content.file.unlink()
    with pytest.raises(ResolutionError, match="cannot be read"):
        await resolver.resolve_namespace(asked)
