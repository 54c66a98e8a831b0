"""The list of what an image holds."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[3] / "image" / "sbom.py"
STATUS = """Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9
Description: a library
 with a second line

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: base-files
Architecture: amd64
Version: 12.4
"""


def test_packages_of_python_and_debian_and_go_are_listed(tmp_path: Path) -> None:
    info = tmp_path / "opt" / "dependencies" / "Some_Thing-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: Some_Thing\nVersion: 1.2\nLicense-Expression: MIT\n"
    )
    (tmp_path / "status").write_text(STATUS)
    (tmp_path / "VERSION").write_text("go1.27.3\ntime 2026-10-19T22:20:36Z\n")
    parts = (str(tmp_path / name) for name in ("opt", "status", "VERSION"))
    command = (sys.executable, str(SCRIPT), *parts)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    listed = json.loads(done.stdout)
    assert (listed["bomFormat"], listed["specVersion"]) == ("CycloneDX", "1.5")
    assert [part["purl"] for part in listed["components"]] == [
        "pkg:deb/debian/base-files@12.4?arch=amd64",
        "pkg:deb/debian/libc6@2.36-9?arch=amd64",
        "pkg:golang/stdlib@1.27.3",
        "pkg:pypi/some-thing@1.2",
    ]
    assert listed["components"][3]["licenses"] == [{"expression": "MIT"}]
