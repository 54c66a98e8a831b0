"""The alerts that a release brings: of metrics and labels that there are, and all on their page."""

import re
from pathlib import Path
from typing import Any

import yaml

from api.objects import KubeObject
from cluster_version.metrics.operators import Transitions
from cluster_version.names import DEFAULT_PROFILE, LEASE
from cluster_version.operator.exposition import Readings, families
from cluster_version.payload.inclusion import Filters, left_out
from cluster_version.payload.manifests import parse_manifests

ROOT = Path(__file__).parents[4]
[FILE] = (ROOT / "config" / "release" / "cluster-version-operator").iterdir()
PAGE = (ROOT / "docs" / "reference" / "cluster-version-operator.md").read_text()
SINCE = "2026-01-01T00:00:00Z"


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load(FILE.read_text())["spec"]["groups"]
    return list(group["rules"])


def condition(kind: str, status: str, reason: str = "Reason") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": SINCE}


def operator(degraded: str) -> KubeObject:
    return {
        "metadata": {"name": "etcd"},
        "status": {"conditions": [condition("Degraded", degraded)]},
    }


def samples() -> list[tuple[str, dict[str, str]]]:
    """Names and labels of what there is to report of a cluster that is in trouble."""
    update = {"release": {"version": "1.0.1"}, "conditions": [condition("Recommended", "Unknown")]}
    status = {
        "history": [],
        "availableUpdates": [{"version": "1.0.2"}],
        "conditionalUpdates": [update],
        "conditions": [
            condition("Available", "False"),
            condition("Failing", "True"),
            condition("ReleaseAccepted", "False"),
            condition("Upgradeable", "False"),
            condition("RetrievedUpdates", "False", "NoChannel"),
        ],
    }
    component = operator("True")
    changes = Transitions()
    changes.see(operator("False"), component)
    readings = Readings(
        cluster_version={"metadata": {"name": "version"}, "spec": {}, "status": status},
        operators=[component],
        transitions=changes,
        retrieved=1.0,
        lease=LEASE,
        leading=True,
    )
    return [(each.name, each.labels) for one in families(readings) for each in one.samples]


def labels_of(rule: dict[str, Any]) -> set[str]:
    """Those that an alert has of what it is about."""
    grouped = re.search(r"by \((.*?)\)", rule["expr"])
    return set(grouped[1].split(", ")) if grouped else set()


def test_alerts_are_of_what_the_operator_exposes() -> None:
    there = samples()
    for rule in rules():
        selectors = re.findall(r"\b((?:cluster|leader)_\w+)(?:\{(.*?)\})?", rule["expr"])
        assert selectors, rule["alert"]
        for name, labels in selectors:
            wanted = dict(re.findall(r'(\w+)="(\w+)"', labels)).items()
            found = [has for metric, has in there if metric == name and wanted <= has.items()]
            assert found, f"{rule['alert']}: {name} {labels}"
            assert all(labels_of(rule) <= set(has) for has in found), rule["alert"]


def test_annotations_use_labels_that_their_alert_has() -> None:
    for rule in rules():
        used = set(re.findall(r"\$labels\.(\w+)", str(rule["annotations"])))
        assert used <= labels_of(rule), rule["alert"]


def test_a_release_may_have_them() -> None:
    [manifest] = parse_manifests(FILE.name, FILE.read_bytes())
    assert manifest.file.place == ("90", "cluster-version-operator")
    assert left_out(manifest.object, Filters(profile=DEFAULT_PROFILE)) == ""


def test_the_page_has_all_alerts() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (?:(\d+) min )?\| ", PAGE, re.MULTILINE)
    wanted = [
        (rule["alert"], rule["labels"]["severity"], rule.get("for", "").removesuffix("m"))
        for rule in rules()
    ]
    assert rows == wanted
