#!/usr/bin/env python3
"""Write what is generated: run by `make generate`, compared by `make verify`.

config/crd comes from the models in api/, from both of them what config/chart.py says; classes
of messages come from their .proto files; types of Kubernetes come from its OpenAPI;
docs/architecture.svg from the import contracts.

With --check nothing is written: the exit code is 1 if a file is not what would be written.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from api.crd import with_structs
from api.olm.v1.crds import definitions
from api.openshift import crds as openshift
from api.operators import crds as operators
from config.chart import chart_files
from config.diagrams import diagram_files
from config.kubernetes_schemas import Structs
from config.kubernetes_types import type_files
from config.protobuf import message_files

CRD_FOLDER = Path(__file__).parent / "crd"
CLASSIC_CRD_FOLDER = CRD_FOLDER / "classic"
CLUSTER_VERSION_CRD_FOLDER = CRD_FOLDER / "cluster-version"

HEADER = "# Generated from the models in api by `make generate`. Do not edit.\n"


class _Dumper(yaml.SafeDumper):
    """Readable YAML: no aliases, long text in blocks."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def files() -> dict[Path, str]:
    """The content of every generated file."""
    crds = _yaml(definitions())
    classic = _yaml(with_structs(operators.definitions() | openshift.definitions(), Structs()))
    cluster_version = _yaml(openshift.cluster_version_definitions())
    written = {CRD_FOLDER / name: text for name, text in crds.items()}
    written |= {CLASSIC_CRD_FOLDER / name: text for name, text in classic.items()}
    written |= {CLUSTER_VERSION_CRD_FOLDER / name: text for name, text in cluster_version.items()}
    return written | chart_files(crds, classic) | message_files() | type_files() | diagram_files()


def _yaml(crds: dict[str, Any]) -> dict[str, str]:
    return {
        f"{name}.yaml": HEADER + yaml.dump(crd, Dumper=_Dumper, width=100)
        for name, crd in crds.items()
    }


def main() -> int:
    """Write or check the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare, write nothing")
    check = parser.parse_args().check
    stale = []
    for path, content in files().items():
        if path.is_file() and path.read_text(encoding="utf-8") == content:
            continue
        stale.append(path.name)
        if not check:
            path.write_text(content, encoding="utf-8")
    if stale:
        sys.stdout.write(f"{'stale' if check else 'written'}: {', '.join(stale)}\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
