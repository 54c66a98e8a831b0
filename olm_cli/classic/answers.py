"""A resolution of OLM Classic for people and for programs."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

from api.objects import KubeObject, name_of
from olm_classic.dialect import Dialect
from olm_classic.resolve import (
    Chosen,
    Limit,
    Namespace,
    Resolution,
    ResolutionError,
    UnsatisfiableError,
    resolve,
)
from olm_classic.resolve.explain import Explanation, explain
from olm_cli.table import table

NOT_SATISFIABLE, PREVENTED = "ConstraintsNotSatisfiable", "ErrorPreventedResolution"


def answer(namespace: Namespace, dialect: Dialect) -> Resolution | ResolutionError:
    """What the namespace resolves to, or why it does not."""
    try:
        return resolve(namespace, Limit(time.monotonic), dialect)
    except ResolutionError as error:
        return error


def explanation(namespace: Namespace, error: ResolutionError, dialect: Dialect) -> Explanation:
    """Why it does not, and the smallest change with which it does."""
    return explain(namespace, error, Limit(time.monotonic), dialect)


def reason(error: ResolutionError) -> str:
    """The reason in the condition ResolutionFailed."""
    return NOT_SATISFIABLE if isinstance(error, UnsatisfiableError) else PREVENTED


def bundle_data(chosen: Chosen) -> dict[str, Any]:
    """A bundle for programs."""
    entry = chosen.entry
    return {
        "name": entry.name,
        "package": entry.package,
        "channel": entry.channel,
        "version": str(entry.version) if entry.version else None,
        "catalog": {"name": entry.source.name, "namespace": entry.source.namespace},
        "image": entry.image or None,
        "replaces": chosen.replaces or None,
    }


def data(found: Resolution) -> dict[str, Any]:
    """A resolution for programs."""
    planned = {each.entry.id for each in found.planned}
    return {
        "bundles": [
            {**bundle_data(each), "new": each.entry.id in planned} for each in found.chosen
        ],
        "subscriptions": {
            "created": [{"name": name, "spec": spec} for name, spec in found.generated],
            "updated": [{"name": name, "currentCSV": csv} for name, csv in found.updated],
            "adopted": [{"name": name, "installedCSV": csv} for name, csv in found.adopted],
        },
    }


def error_data(error: ResolutionError, why: Explanation) -> dict[str, Any]:
    """An error for programs."""
    change = {"text": why.change.text, "command": why.change.command} if why.change else None
    return {
        "reason": reason(error),
        "message": error.message,
        "causes": list(why.causes),
        "change": change,
    }


def bundle_lines(found: Resolution, *, only_new: bool = False) -> Iterator[str]:
    """The bundles as a table."""
    new = {each.entry.id for each in found.planned}
    rows = [
        (
            each.entry.name,
            f"{each.entry.source.namespace}/{each.entry.source.name}",
            each.entry.channel,
            "new" if each.entry.id in new else "as it is",
            each.replaces or "nothing",
        )
        for each in found.chosen
        if each.entry.id in new or not only_new
    ]
    if rows:
        yield from table(("BUNDLE", "CATALOG", "CHANNEL", "STATE", "REPLACES"), rows)


def error_lines(error: ResolutionError, why: Explanation) -> Iterator[str]:
    """Upstream's words first, then plain ones, then what helps."""
    yield f"{reason(error)}: {error.message}"
    yield ""
    for cause in why.causes:
        yield f"  {cause}"
    if why.change is None:
        yield "no single change was found with which it resolves"
        return
    yield f"to resolve: {why.change.text}"
    if why.change.command:
        yield f"  {why.change.command}"


def approval(subscriptions: tuple[KubeObject, ...]) -> str:
    """The approval of a plan: one Manual makes it manual."""
    said = {(each["spec"].get("installPlanApproval") or "Automatic") for each in subscriptions}
    return "Manual" if "Manual" in said else "Automatic"


def status_of(subscription: KubeObject, key: str) -> str:
    """A field of a Subscription's status; empty if it is not there."""
    found: Mapping[str, Any] = subscription.get("status") or {}
    return str(found.get(key) or "")


def names(namespace: Namespace) -> list[str]:
    """The Subscriptions, sorted."""
    return sorted(map(name_of, namespace.subscriptions))
