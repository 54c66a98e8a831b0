"""The Helm chart, by the pinned Helm: rendered, checked, installed.

`python -m e2e.olm.chart` writes the snapshots of tests/charts anew (`make chart`).
"""

import os
import subprocess
import sys
from pathlib import Path

from e2e.harness.binaries import helm_binary
from e2e.harness.errors import CommandFailed
from e2e.harness.process import service_environment

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "olmv1"
SNAPSHOTS = ROOT / "tests" / "charts" / "snapshots"
RELEASE, NAMESPACE = "olmv1", "olmv1-system"
HELM_SECONDS = 300.0

VALUE_SETS: dict[str, tuple[str, ...]] = {
    "default": (),
    "openshift": ("values-openshift.yaml", "values-catalogs-redhat.yaml"),
    "cert-manager": ("ci/cert-manager.yaml", "values-catalogs-community.yaml"),
    "given-certificates": ("ci/given-certificates.yaml",),
    "everything": ("ci/everything.yaml",),
}
"""Files of values by name, in the order in which Helm is given them."""


def helm(*arguments: str, kubeconfig: Path | None = None, home: Path | None = None) -> str:
    """Run Helm; its standard output.

    `home` is where it keeps its own files. Errors: CommandFailed with its standard error.
    """
    argv = (*helm_binary().argv, *arguments)
    extra = {"KUBECONFIG": str(kubeconfig or os.devnull)}
    if home is not None:
        extra |= {name: str(home) for name in ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HOME")}
    done = subprocess.run(
        argv,
        env=service_environment(**extra),
        capture_output=True,
        text=True,
        check=False,
        timeout=HELM_SECONDS,
    )
    if done.returncode != 0:
        raise CommandFailed(
            argv, returncode=done.returncode, stdout=done.stdout, stderr=done.stderr
        )
    return done.stdout


def values_arguments(name: str) -> list[str]:
    """The arguments for one of VALUE_SETS."""
    return [f"--values={CHART / file}" for file in VALUE_SETS[name]]


def rendered(name: str, *extra: str) -> str:
    """What one of VALUE_SETS renders, for a cluster that serves ClusterCatalogs."""
    return helm(
        "template",
        RELEASE,
        str(CHART),
        f"--namespace={NAMESPACE}",
        "--api-versions=olm.operatorframework.io/v1/ClusterCatalog",
        *values_arguments(name),
        *extra,
    )


def snapshot(name: str) -> str:
    """The same without CRDs, which are config/crd."""
    return rendered(name, "--set=crds.install=false")


def main() -> None:
    """Writes all snapshots, then lets Helm check the chart with each set of values."""
    SNAPSHOTS.mkdir(parents=True, exist_ok=True)
    for name in VALUE_SETS:
        (SNAPSHOTS / f"{name}.yaml").write_text(snapshot(name))
        sys.stdout.write(helm("lint", "--strict", str(CHART), *values_arguments(name)))


if __name__ == "__main__":
    main()
