"""The manifest of `kubectl olm`, by the rules of krew, and what goes into its archives."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from config.krew.__main__ import MANIFEST, OF_DAEMONS, PLATFORMS, REQUIREMENTS, manifest, without

PYPROJECT = Path(__file__).parents[3] / "pyproject.toml"


def plugin() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(MANIFEST.read_text())
    return found


def test_the_manifest_is_where_an_index_has_it_and_names_the_plugin() -> None:
    found = plugin()
    assert found["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert found["kind"] == "Plugin"
    assert MANIFEST.parent.name == "plugins"
    assert MANIFEST.stem == found["metadata"]["name"] == "olm"


def test_the_version_is_ours() -> None:
    version = tomllib.loads(PYPROJECT.read_text())["project"]["version"]
    assert plugin()["spec"]["version"] == f"v{version}"


def test_descriptions_and_platforms_are_as_krew_demands() -> None:
    spec = plugin()["spec"]
    assert spec["shortDescription"]
    assert "\n" not in spec["shortDescription"]
    assert spec["platforms"]
    for platform in spec["platforms"]:
        assert platform["uri"].startswith("https://")
        assert re.fullmatch(r"[a-f0-9]{64}", platform["sha256"])
        assert platform["bin"] == "kubectl-olm"
        assert set(platform["selector"]["matchLabels"]) == {"os", "arch"}
    labels = [each["selector"]["matchLabels"] for each in spec["platforms"]]
    assert [f"{each['os']}/{each['arch']}" for each in labels] == list(PLATFORMS)


def test_an_index_has_the_platforms_that_were_made(tmp_path: Path) -> None:
    archive = tmp_path / "kubectl-olm_linux_arm64.tar.gz"
    archive.write_bytes(b"")
    [platform] = manifest({"linux/arm64": archive}, "https://a.example.com/b/")["spec"]["platforms"]
    assert platform["uri"] == "https://a.example.com/b/kubectl-olm_linux_arm64.tar.gz"
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert platform["sha256"] == empty


def test_libraries_of_daemons_are_left_out_with_their_hashes() -> None:
    first, last = "a==1 \\\n    --hash=sha256:1\n    # via b", "z==3 \\\n    --hash=sha256:3"
    text = f"{first}\nkopf==2 \\\n    --hash=sha256:2\n{last}"
    assert without(text, {"kopf"}) == f"{first}\n{last}"
    known = set(re.findall(r"^([a-z0-9._-]+)==", REQUIREMENTS.read_text(), re.MULTILINE))
    assert known >= OF_DAEMONS
