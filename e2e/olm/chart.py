"""The Helm charts, by the pinned Helm: rendered, checked, installed.

`python -m e2e.olm.chart` writes the snapshots of tests/charts anew (`make chart`).
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.binaries import helm_binary
from e2e.harness.errors import CommandFailed
from e2e.harness.process import service_environment

ROOT = Path(__file__).parents[2]
HELM_SECONDS = 300.0


@dataclass(frozen=True, slots=True, eq=False)
class ChartUnderTest:
    """A chart, and sets of its values.

    name        of the chart and of its releases
    namespace   of its releases
    sets        files of values by name, in the order in which Helm is given them
    apis        what the cluster serves for which it is rendered
    crds        whether it has some
    """

    name: str
    namespace: str
    sets: Mapping[str, tuple[str, ...]]
    apis: str
    crds: bool = True

    @property
    def folder(self) -> Path:
        """Where it is."""
        return ROOT / "charts" / self.name

    @property
    def snapshots(self) -> Path:
        """Where what it renders is stored."""
        return ROOT / "tests" / "charts" / "snapshots" / self.name

    def values_arguments(self, name: str) -> list[str]:
        """The arguments for one of its sets of values."""
        return [f"--values={self.folder / file}" for file in self.sets[name]]

    def rendered(self, name: str, *extra: str) -> str:
        """What a set of values renders."""
        place = (self.name, str(self.folder), f"--namespace={self.namespace}")
        given = (f"--api-versions={self.apis}", *self.values_arguments(name), *extra)
        return helm("template", *place, *given)

    def snapshot(self, name: str) -> str:
        """The same without CRDs, which are config/crd."""
        return self.rendered(name, *(["--set=crds.install=false"] if self.crds else []))


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


OLM_V1 = ChartUnderTest(
    name="olmv1",
    namespace="olmv1-system",
    sets={
        "default": (),
        "openshift": ("values-openshift.yaml", "values-catalogs-redhat.yaml"),
        "release": ("values-release.yaml",),
        "cert-manager": ("ci/cert-manager.yaml", "values-catalogs-community.yaml"),
        "given-certificates": ("ci/given-certificates.yaml",),
        "everything": ("ci/everything.yaml",),
    },
    apis="olm.operatorframework.io/v1/ClusterCatalog",
)
CLASSIC = ChartUnderTest(
    name="olm-classic",
    namespace="olm",
    sets={
        "default": (),
        "openshift": ("values-openshift.yaml",),
        "everything": ("ci/everything.yaml",),
    },
    apis="config.openshift.io/v1/OperatorHub",
)
UPDATE_SERVICE = ChartUnderTest(
    name="update-service",
    namespace="update-service",
    sets={"image": ("ci/image.yaml",), "everything": ("ci/everything.yaml",)},
    apis="v1/Pod",
    crds=False,
)
CHARTS = (OLM_V1, CLASSIC, UPDATE_SERVICE)

CHART, SNAPSHOTS, VALUE_SETS = OLM_V1.folder, OLM_V1.snapshots, OLM_V1.sets
RELEASE, NAMESPACE = OLM_V1.name, OLM_V1.namespace
values_arguments, rendered, snapshot = OLM_V1.values_arguments, OLM_V1.rendered, OLM_V1.snapshot


def main() -> None:
    """Writes all snapshots, then lets Helm check the charts with each set of values."""
    for chart in CHARTS:
        chart.snapshots.mkdir(parents=True, exist_ok=True)
        for name in chart.sets:
            (chart.snapshots / f"{name}.yaml").write_text(chart.snapshot(name))
            given = chart.values_arguments(name)
            sys.stdout.write(helm("lint", "--strict", str(chart.folder), *given))


if __name__ == "__main__":
    main()
