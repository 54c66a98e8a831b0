"""The metrics of package-server. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from prometheus_client.metrics_core import Metric

from olm_classic.package_manifests.shelf import Key
from olm_runtime.metrics.controllers import of_client
from olm_runtime.metrics.exposition import gauge


@dataclass(frozen=True, slots=True)
class Readings:
    """Present values.

    packages  how many there are of a catalog
    states    of the connections to catalogs
    answers   of the API server, by method and code
    """

    packages: Mapping[Key, int] = field(default_factory=dict)
    states: Mapping[Key, str] = field(default_factory=dict)
    answers: Mapping[tuple[str, str], int] = field(default_factory=dict)


def families(readings: Readings) -> Iterator[Metric]:
    """All metrics, as they are now."""
    yield gauge(
        "package_server_packages",
        "Packages that are shown, by catalog.",
        [(_labels(key), count) for key, count in sorted(readings.packages.items())],
    )
    yield gauge(
        "package_server_catalog_ready",
        "Whether the server of a catalog is connected.",
        [(_labels(key), state == "READY") for key, state in sorted(readings.states.items())],
    )
    yield of_client(readings.answers)


def _labels(key: Key) -> dict[str, str]:
    return {"namespace": key[0], "name": key[1]}
