"""Start-up of olm-operator."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from olm_classic.olm_operator.settings import LEASE, Settings, parse_settings
from olm_runtime.daemon.process import Program
from olm_runtime.kube.client import KubeClient

if TYPE_CHECKING:  # imported late: they take time and memory
    from prometheus_client.metrics_core import Metric

    from olm_classic.olm_operator.wiring import Controllers


def main(settings: Settings) -> None:
    """The console script `olm-operator`."""
    Program("olm-operator", LEASE, _begin, _families).run(settings)


def _begin(settings: Settings, client: KubeClient, identity: str) -> "Controllers":
    # Imported once this process works: one that waits for the lease is small, and soon ready.
    from olm_classic.olm_operator.wiring import Controllers

    return Controllers(settings, client, identity)


def _families(controllers: "Controllers | None", client: KubeClient) -> "Iterator[Metric]":
    from olm_classic.olm_operator.exposition import Readings, families

    if controllers is None:
        return families(Readings(answers=client.answers, lease=LEASE))
    return families(controllers.readings())


if __name__ == "__main__":
    main(parse_settings())
