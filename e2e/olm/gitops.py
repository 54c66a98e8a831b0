"""How healthy GitOps tools take objects to be, by their own evaluation (e2e/gitops)."""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from api.objects import KubeObject
from e2e.harness.binaries import gitops_binary

CONFIG = Path(__file__).parents[2] / "config" / "gitops"
SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Health:
    """By kstatus alone, by our script in Argo CD, and by our expressions in Flux.

    Flux has no expressions of ours for ClusterObjectSets, which nobody keeps in Git. OLM Classic
    has
    neither: Argo CD has a script of its own for Subscriptions.
    """

    kstatus: str
    argo: str
    flux: str


def health_of(objects: Sequence[KubeObject]) -> list[Health]:
    """The health of each object. Errors: BinaryUnavailable, BuildFailed."""
    scripts, expressions = _scripts(), _expressions()
    cases = [
        {
            "object": obj,
            "lua": scripts.get(obj["kind"], ""),
            "cel": expressions.get(obj["kind"], {}),
        }
        for obj in objects
    ]
    done = subprocess.run(
        gitops_binary().argv,
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return [
        Health(found["kstatus"]["status"], found["argo"]["status"], found["flux"]["status"])
        for found in json.loads(done.stdout)
    ]


def _scripts() -> dict[str, str]:
    """The scripts for Argo CD, by kind."""
    text = (CONFIG / "argocd" / "health.yaml").read_text()
    data: dict[str, str] = yaml.safe_load(text)["data"]
    return {key.rpartition("_")[2]: script for key, script in data.items()}


def _expressions() -> dict[str, dict[str, Any]]:
    """The expressions for Flux, by kind."""
    text = (CONFIG / "flux" / "extensions.yaml").read_text()
    return {
        check["kind"]: check
        for document in yaml.safe_load_all(text)
        for check in document["spec"]["healthCheckExprs"]
    }
