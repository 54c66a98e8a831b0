"""The preflight checks on large input: print the figures, fail when a budget is broken.

Run: .venv/bin/python tests/bench/bench_preflight.py
"""

import asyncio
import copy
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from olm_content.crds import check, report
from olm_content.rights import Authority, guessed_kinds, judge, needs_of, rules_of
from olm_content.rights import report as permissions_report

WORDS = "text as generators of definitions copy it from comments in source code, on and on; "


def schema(depth: int, note: str) -> dict[str, Any]:
    fields: dict[str, Any] = {
        f"field{i}": {"type": "string", "description": WORDS + note, "maxLength": 63 + i}
        for i in range(6)
    }
    if depth:
        for i in range(3):
            fields[f"group{i}"] = schema(depth - 1, note)
        fields["list"] = {"type": "array", "items": schema(depth - 1, note)}
    return {"type": "object", "description": note, "properties": fields}


def definition(name: str, note: str, depth: int = 4) -> dict[str, Any]:
    version = {"name": "v1", "served": True, "storage": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "scope": "Namespaced",
            "versions": [version | {"schema": {"openAPIV3Schema": schema(depth, note)}}],
        },
    }


def roles() -> list[dict[str, Any]]:
    """A bundle of 50 roles with 40 rules each."""
    rules = [
        {
            "apiGroups": [f"group{i}.example.com", ""],
            "resources": [f"things{i}", f"things{i}/status", "pods"],
            "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
        }
        for i in range(40)
    ]
    api = "rbac.authorization.k8s.io/v1"
    return [
        {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": f"r{n}"}, "rules": rules}
        for n in range(50)
    ]


def permissions(held: Authority) -> str:
    objects = roles()
    return permissions_report(judge(needs_of(objects, guessed_kinds(objects), "ext"), held, {}))


def best(what: Callable[[], object], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        what()
        taken.append(time.perf_counter() - started)
    return min(taken) * 1000


def off_the_loop(old: dict[str, Any], new: list[dict[str, Any]]) -> tuple[float, float]:
    """As the controller compares a bundle: all of it, and the longest pause of the loop, in ms."""

    async def compare() -> tuple[float, float]:
        done = asyncio.Event()

        async def longest_pause() -> float:
            longest = 0.0
            while not done.is_set():
                started = time.perf_counter()
                await asyncio.sleep(0.001)
                longest = max(longest, time.perf_counter() - started)
            return longest * 1000

        watching = asyncio.create_task(longest_pause())
        started = time.perf_counter()
        for each in new:
            await asyncio.to_thread(check, old, each)
        taken = (time.perf_counter() - started) * 1000
        done.set()
        return taken, await watching

    return asyncio.run(compare())


def main() -> int:
    old, same = definition("a.example.com", "old"), definition("a.example.com", "old")
    documented = definition("a.example.com", "new")
    tightened = json.loads(json.dumps(documented).replace('"maxLength": 6', '"maxLength": 5'))
    fifty = [copy.deepcopy(tightened) for _ in range(50)]
    split = [rule for item in roles()[:1] for rule in item["rules"]]
    held = Authority(cluster=rules_of({**r, "verbs": [v]} for r in split for v in r["verbs"]))
    size = len(json.dumps(old)) // 1000
    off_loop, pause = off_the_loop(old, fifty)
    rows = [
        (f"{size} KB definition, nothing changed", best(lambda: check(old, same)), 30),
        (f"{size} KB, every description changed", best(lambda: check(old, documented)), 30),
        (f"{size} KB, every field changed", best(lambda: report(check(old, tightened))), 30),
        (
            "50 definitions of that size, all changed",
            best(lambda: report(f for new in fifty for f in check(old, new)), 1),
            1500,
        ),
        ("50 definitions, as the controller does it", off_loop, 1500),
        ("longest pause of the event loop meanwhile", pause, 100),
        ("50 roles of 40 rules, nothing held", best(lambda: permissions(Authority())), 300),
        ("50 roles of 40 rules, held in 280 rules", best(lambda: permissions(held)), 300),
    ]
    for name, taken, budget in rows:
        print(f"{name:42} {taken:8.1f} ms  (budget {budget} ms)")
    return int(any(taken > budget for _, taken, budget in rows))


if __name__ == "__main__":
    sys.exit(main())
