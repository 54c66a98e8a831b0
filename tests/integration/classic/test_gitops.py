"""How healthy GitOps tools take the objects of OLM Classic to be, by the tools' own rules."""

from collections.abc import Callable

import pytest

from api.objects import KubeObject
from e2e.harness.registry import Registry
from e2e.olm.classic import Place, status
from tests.integration.classic.test_subscriptions import Bundles, channel, conditions
from tests.integration.health import judged

pytestmark = pytest.mark.integration


def has(kind: str) -> Callable[[KubeObject], bool]:
    """Whether a condition is True."""
    return lambda obj: conditions(obj).get(kind, {}).get("status") == "True"


def has_latest(obj: KubeObject) -> bool:
    return bool(status(obj, "state") == "AtLatestKnown")


has_plan = has("InstallPlanPending")


def test_argo_cd_understands_subscriptions(place: Place, registry: Registry) -> None:
    versions = Bundles(registry).of("kept", "1.0.0", "1.1.0")
    server = place.catalog("operators", channel(versions[:1]))
    given = {"installPlanApproval": "Manual"}
    seen: list[tuple[str, str, KubeObject]] = []

    def note(state: str, expected: str, holds: Callable[[KubeObject], bool]) -> None:
        seen.append((state, expected, place.wait("subscriptions", "kept", holds)))

    place.subscribe("kept", source="operators", channel="absent", **given)
    note("no such channel", "Degraded", has("ResolutionFailed"))
    place.patch("subscriptions", "kept", {"spec": {"channel": None}})
    note("not approved", "Progressing", has_plan)
    place.approve(place.wait_plan("RequiresApproval"))
    note("installed", "Healthy", lambda obj: has_latest(obj) and not has_plan(obj))
    server.serve(channel(versions))
    note("an update waits", "Progressing", lambda obj: not has_latest(obj))
    catalog = place.wait("catalogsources", "operators", lambda _: True)
    place.delete("catalogsources", "operators")
    note("its catalog is gone", "Degraded", has("CatalogSourcesUnhealthy"))
    *found, of_catalog = judged([*(obj for _, _, obj in seen), catalog])
    states = [state for state, _, _ in seen]
    expected = [health for _, health, _ in seen]
    assert dict(zip(states, [each.argo for each in found], strict=True)) == dict(
        zip(states, expected, strict=True)
    )
    assert (of_catalog.argo, of_catalog.kstatus) == ("Healthy", "Current")
