#!/usr/bin/env python3
"""Writes what an image holds as CycloneDX JSON: `sbom.py FOLDER DPKG_STATUS GO_VERSION`.

FOLDER has the Python distributions, DPKG_STATUS is the package database of the base, GO_VERSION the
file VERSION of the Go whose library is in our one static program. It runs inside the build, where
nothing but Python is installed. The same image has the same list: no time, no serial number.
"""

import json
import sys
from collections.abc import Iterator
from email.parser import HeaderParser
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

Component = dict[str, Any]


def python_components(folder: Path) -> Iterator[Component]:
    """A component for each distribution below the folder."""
    for found in distributions(path=[str(path) for path in folder.iterdir() if path.is_dir()]):
        name = found.metadata["Name"].lower().replace("_", "-")
        yield {
            "type": "library",
            "name": name,
            "version": found.version,
            "purl": f"pkg:pypi/{name}@{found.version}",
            **_license(found),
        }


def _license(found: Distribution) -> Component:
    expression = found.metadata.get("License-Expression")
    return {"licenses": [{"expression": expression}]} if expression else {}


def debian_components(status: str) -> Iterator[Component]:
    """A component for each installed package of a dpkg database."""
    for paragraph in filter(str.strip, status.split("\n\n")):
        fields = HeaderParser().parsestr(paragraph)
        name, version = fields["Package"], fields["Version"]
        if not name or not version or "deinstall" in (fields["Status"] or ""):
            continue
        yield {
            "type": "library",
            "name": name,
            "version": version,
            "purl": f"pkg:deb/debian/{name}@{version}?arch={fields['Architecture']}",
        }


def go_component(version: str) -> Component:
    """Go's own library; `version` is the text of Go's file VERSION."""
    number = version.split(maxsplit=1)[0].removeprefix("go")
    purl = f"pkg:golang/stdlib@{number}"
    return {"type": "library", "name": "stdlib", "version": number, "purl": purl}


def document(components: list[Component]) -> Component:
    """The list of parts, sorted."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": sorted(components, key=lambda part: str(part["purl"])),
    }


def main() -> None:
    """Both lists as one document on standard output."""
    folder, status, go = map(Path, sys.argv[1:])
    components = [*python_components(folder), go_component(go.read_text(encoding="utf-8"))]
    if status.is_file():
        components += debian_components(status.read_text(encoding="utf-8"))
    json.dump(document(components), sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
