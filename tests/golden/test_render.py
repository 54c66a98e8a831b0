"""What we render from real bundles is what upstream renders, object by object."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from olm_content.bundle.reader import load
from olm_content.render.install import InstallRequest, install_objects
from olm_content.render.options import CertificateProvider
from olm_runtime.errors import OLMError
from tests.requirements import CORPUS

GOLDENS = sorted((CORPUS / "goldens" / "render").glob("*.json"))
BUNDLES = sorted(path.parent for path in (CORPUS / "bundles").glob("*/*/manifests"))

pytestmark = pytest.mark.corpus


def bundle_files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("golden_path", GOLDENS, ids=lambda path: path.stem)
def test_renders_what_upstream_renders(golden_path: Path) -> None:
    golden = json.loads(golden_path.read_text())
    watched = golden["watchNamespace"]
    request = InstallRequest(
        install_namespace=golden["installNamespace"],
        config={"watchNamespace": watched} if watched else None,
        certificate_provider=CertificateProvider(golden["certificateProvider"]),
    )
    bundle = load(bundle_files(CORPUS / "bundles" / golden["bundle"]))
    if "error" in golden:
        with pytest.raises(OLMError) as refused:
            install_objects(bundle, request)
        assert refused.value.message == golden["error"].removeprefix("terminal error: ")
        return
    rendered = sorted((canonical(obj) for obj in install_objects(bundle, request)), key=object_key)
    assert [object_key(obj) for obj in rendered] == [object_key(o) for o in golden["objects"]]
    for ours, theirs in zip(rendered, golden["objects"], strict=True):
        assert list(differences(ours, theirs)) == [], object_key(theirs)


@pytest.mark.parametrize("folder", BUNDLES, ids=lambda path: f"{path.parent.name}.{path.name}")
def test_every_bundle_renders_or_is_refused_in_words(folder: Path) -> None:
    bundle = load(bundle_files(folder))
    modes = bundle.csv.install_modes
    watched = None if "AllNamespaces" in modes else "install-ns"
    if "OwnNamespace" not in modes and watched:
        watched = "watched-ns"
    request = InstallRequest(
        install_namespace="install-ns",
        config={"watchNamespace": watched} if watched else None,
        certificate_provider=CertificateProvider.SELF,
    )
    assert install_objects(bundle, request) == install_objects(bundle, request)


def object_key(obj: dict[str, Any]) -> tuple[str, ...]:
    metadata = obj["metadata"]
    return obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata.get("name", "")


def canonical(value: Any, *, top: bool = True) -> Any:
    """Nulls, empty collections and the status dropped, as the goldens have it."""
    if isinstance(value, list):
        return [canonical(item, top=False) for item in value]
    if not isinstance(value, dict):
        return value
    cleaned = {key: canonical(item, top=False) for key, item in value.items()}
    return {
        key: item
        for key, item in cleaned.items()
        if item is not None and item not in ({}, []) and not (top and key == "status")
    }


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two canonical values differ; a quantity and its value are the same."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(ours.keys() | theirs.keys()):
            yield from differences(ours.get(key), theirs.get(key), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif ours != theirs and quantity_value(ours) != theirs:
        yield path, ours, theirs


SUFFIXES: dict[str, Decimal | int] = {
    "": 1,
    "m": Decimal("0.001"),
    "k": 1000,
    "M": 10**6,
    "G": 10**9,
}
SUFFIXES |= {f"{letter}i": 1024**power for power, letter in enumerate("KMGT", start=1)}


def quantity_value(text: Any) -> float | None:
    found = re.fullmatch(r"([0-9.]+)([a-zA-Z]*)", text) if isinstance(text, str) else None
    return float(Decimal(found[1]) * SUFFIXES[found[2]]) if found and found[2] in SUFFIXES else None
