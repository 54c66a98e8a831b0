"""Every recorded choice of upstream over real packages, and the law of one reason each."""

import json
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from api.olm.v1.clusterextension import BundleMetadata, CatalogFilter, UpgradeConstraintPolicy
from olm_content.fbc.documents import parse
from olm_content.fbc.model import Package
from operator_controller.catalog import build_package
from operator_controller.resolve import CatalogContent, Findings, Request, ResolutionError, resolve

pytestmark = pytest.mark.corpus


@lru_cache
def package_of(folder: Path, name: str) -> Package | None:
    file = folder / name / "catalog.yaml"
    if not file.exists():
        return None
    return build_package(name, [orjson.loads(b.raw) for b in parse(file.read_bytes(), path=name)])


def cases(corpus: Path) -> list[dict[str, Any]]:
    lines = (corpus / "goldens/resolve.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def request_of(case: Mapping[str, Any]) -> Request:
    policy = case.get("policy", UpgradeConstraintPolicy.CATALOG_PROVIDED)
    return Request(
        CatalogFilter(
            package_name=case["package"],
            version=case.get("version", ""),
            channels=tuple(case.get("channels", ())),
            upgrade_constraint_policy=UpgradeConstraintPolicy(policy),
        ),
        BundleMetadata(**case["installed"]) if "installed" in case else None,
    )


def catalogs_of(case: Mapping[str, Any], corpus: Path) -> list[CatalogContent]:
    return [
        CatalogContent(
            name=catalog["name"],
            priority=catalog["priority"],
            package=package_of(corpus / catalog["dir"], case["package"]),
        )
        for catalog in case["catalogs"]
    ]


def outcome(
    case: Mapping[str, Any], catalogs: list[CatalogContent]
) -> tuple[dict[str, str], Findings]:
    try:
        chosen = resolve(request_of(case), catalogs)
    except ResolutionError as error:
        return {"error": error.message}, error.findings
    facts = {"bundle": chosen.bundle, "image": chosen.image, "version": str(chosen.version)}
    return facts, chosen.findings


def test_all_choices_agree(corpus: Path) -> None:
    wrong = []
    for case in cases(corpus):
        got, _ = outcome(case, catalogs_of(case, corpus))
        if got != case["expect"]:
            wrong.append((case["id"], got, case["expect"]))
    assert not wrong


def test_every_bundle_has_exactly_one_reason(corpus: Path) -> None:
    for case in cases(corpus):
        catalogs = catalogs_of(case, corpus)
        _, findings = outcome(case, catalogs)
        reasons = Counter((c.catalog, c.bundle) for c in findings.causes if c.bundle)
        bundles = [(c.name, b.name) for c in catalogs if c.package for b in c.package.bundles]
        assert sorted(reasons.elements()) == sorted(bundles), case["id"]
