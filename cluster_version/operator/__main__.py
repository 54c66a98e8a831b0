"""Start-up of cluster-version-operator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cluster_version.names import LEASE
from cluster_version.operator.settings import Settings, parse_settings
from olm_runtime.daemon.process import Program
from olm_runtime.kube.client import KubeClient

if TYPE_CHECKING:  # imported late: they take time and memory
    from prometheus_client.metrics_core import Metric

    from cluster_version.operator.wiring import Controllers


def main(settings: Settings) -> None:
    """The console script `cluster-version-operator`."""
    program = Program("cluster-version-operator", LEASE, _begin, _families, makes_namespace=True)
    program.run(settings)


def _begin(settings: Settings, client: KubeClient, identity: str) -> "Controllers":
    # Imported once this process works: one that waits for the lease is small, and soon ready.
    from cluster_version.operator.wiring import Controllers

    return Controllers(settings, client, identity)


def _families(controllers: "Controllers | None", client: KubeClient) -> "Iterator[Metric]":
    from cluster_version.operator.exposition import Readings, families

    idle = Readings(answers=client.answers, lease=LEASE)
    return families(idle if controllers is None else controllers.readings())


if __name__ == "__main__":
    main(parse_settings())
