"""The choice of a bundle, one case per sentence; the cases are data, so more can be added there."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from api.metadata import LabelSelector, LabelSelectorRequirement
from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_runtime.errors import OLMError
from operator_controller.catalog import build_package
from operator_controller.resolve import CatalogContent, Findings, Request, ResolutionError, resolve
from operator_controller.resolve.explain import note_text, sentence, summary

FOLDER = Path(__file__).parents[3] / "cases" / "resolve"
CASES = [
    (file.stem, case)
    for file in sorted(FOLDER.glob("*.json"))
    for case in json.loads(file.read_text())
]


def blobs_of(package: str, spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A catalog's blobs from the short form of the cases."""
    blobs: list[dict[str, Any]] = [{"schema": "olm.package", "name": package}]
    for name, entries in spec.get("channels", {}).items():
        blobs.append(
            {"schema": "olm.channel", "package": package, "name": name, "entries": entries}
        )
    for name, facts in spec["bundles"].items():
        version = {"packageName": package, "version": facts["version"]}
        properties = [{"type": "olm.package", "value": version}]
        properties += [{"type": kind, "value": {}} for kind in facts.get("requires", ())]
        blobs.append(
            {
                "schema": "olm.bundle",
                "package": package,
                "name": name,
                "image": f"registry/{name}",
                "properties": properties,
            }
        )
    if "deprecated" in spec:
        entries = [
            {"reference": {"schema": "olm.bundle", "name": name}, "message": f"{name} goes away"}
            for name in spec["deprecated"]
        ]
        blobs.append({"schema": "olm.deprecations", "package": package, "entries": entries})
    return blobs


def catalog_of(name: str, spec: Mapping[str, Any]) -> CatalogContent:
    package = build_package("p", blobs_of("p", spec)) if "bundles" in spec else None
    return CatalogContent(
        name=name,
        priority=spec.get("priority", 0),
        labels=spec.get("labels", {}),
        package=package,
        unavailable=OLMError(spec["unavailable"]) if "unavailable" in spec else None,
    )


def request_of(spec: Mapping[str, Any]) -> Request:
    selector = spec.get("selector", {})
    expressions = tuple(
        LabelSelectorRequirement(
            key=e["key"], operator=e["operator"], values=tuple(e.get("values", ()))
        )
        for e in selector.get("matchExpressions", ())
    )
    return Request(
        CatalogFilter(
            package_name="p",
            version=spec.get("version", ""),
            channels=tuple(spec.get("channels", ())),
            selector=LabelSelector(
                match_labels=selector.get("matchLabels", {}), match_expressions=expressions
            ),
            upgrade_constraint_policy=UpgradeConstraintPolicy(
                spec.get("policy", "CatalogProvided")
            ),
        ),
        BundleMetadata(**spec["installed"]) if "installed" in spec else None,
    )


def outcome(request: Request, catalogs: list[CatalogContent]) -> tuple[dict[str, str], Findings]:
    try:
        chosen = resolve(request, catalogs)
    except ResolutionError as error:
        return {"error": error.message}, error.findings
    return {"bundle": chosen.bundle, "catalog": chosen.catalog}, chosen.findings


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{file}: {case['rule']}") for file, case in CASES]
)
def test_case(case: Mapping[str, Any]) -> None:
    request = request_of(case.get("request", {}))
    catalogs = [catalog_of(name, spec) for name, spec in case["catalogs"].items()]
    for order in (catalogs, catalogs[::-1]):
        got, findings = outcome(request, order)
        assert got == case["expect"]
        reasons = {
            f"{c.catalog}/{c.bundle}" if c.bundle else c.catalog: c.reason.value
            for c in findings.causes
        }
        assert reasons.items() >= case.get("reasons", {}).items()
        assert len(reasons) == len(findings.causes)
    reported = [sentence(cause, request) for cause in findings.causes]
    reported += [note_text(note) for note in findings.notes]
    assert all(text in "\n".join(reported) for text in case.get("messages", ()))
    assert case.get("summary", "") in summary(findings)


def test_there_are_cases() -> None:
    assert len(CASES) > 40
