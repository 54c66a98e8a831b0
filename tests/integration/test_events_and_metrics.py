"""What people and tools see of operator-controller: Events and metrics."""

import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from api.objects import condition, metadata
from e2e.harness.metrics import requests_by_method, summed
from e2e.harness.ports import free_port
from e2e.olm.api import Api, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import extension, with_administrator
from e2e.olm.programs import Olm
from tests.integration.scraping import Scraper, account, may_read_metrics

pytestmark = pytest.mark.integration

Serve = Callable[[str, str], None]
Publish = Callable[..., str]


@pytest.fixture(scope="module")
def scraper(olm: Olm) -> Iterator[Scraper]:
    """operator-controller with metrics."""
    made = Scraper(olm, free_port("127.0.0.1"))
    olm.stop_operator_controller()
    olm.start_operator_controller(*made.flags)
    yield made
    olm.stop_operator_controller()
    olm.start_operator_controller()


@pytest.fixture
def token(olm: Olm) -> Iterator[str]:
    """Of an account that may read nothing yet."""
    with account(olm) as token:
        yield token


@pytest.fixture
def reader(olm: Olm, token: str) -> Iterator[str]:
    """The same token, once its account may read metrics."""
    with may_read_metrics(olm):
        yield token


def reasons(api: Api, name: str, last: str) -> list[str]:
    """The reasons of all Events, once the last of them is there.

    Without those of before it knew its catalog and its account's rights, each by another watch.
    """
    deadline = time.monotonic() + 60
    while not (found := api.reasons(name)) or found[-1] != last:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found[found.index("Installing") :]


def test_each_transition_is_one_event_also_after_a_restart(
    olm: Olm,
    scraper: Scraper,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
) -> None:
    versions = ("1.0.0", "1.1.0")
    serve_catalog(
        package, publish_catalog(*(BundleSpec(package=package, version=v) for v in versions))
    )
    olm.control_plane.apply(with_administrator(package, "1.0.0"))
    api.wait_installed(package, "1.0.0")
    assert reasons(api, package, "Installed") == ["Installing", "Installed"]
    olm.control_plane.apply(extension(package, "9.x"))
    api.wait_condition(extension_path(package), "Progressing", "True", message="no bundles found")
    assert reasons(api, package, "Retrying")[2:] == ["Retrying"]

    before = metadata(api.get(extension_path(package)) or {})["resourceVersion"]
    olm.kill(olm.operator_controller)
    olm.start_operator_controller(*scraper.flags)
    olm.control_plane.apply(extension(package, "1.1.0"))
    api.wait_installed(package, "1.1.0")
    reported = reasons(api, package, "Updated")
    expected = ["Installing", "Installed", "Retrying", "Updating", "Updated"]
    assert reported == expected, [e["note"] for e in api.events(package)]
    assert before != metadata(api.get(extension_path(package)) or {})["resourceVersion"]

    kinds = {e["reason"]: (e["type"], e["note"]) for e in api.events(package)}
    assert kinds["Retrying"][0] == "Warning"
    assert kinds["Updated"] == ("Normal", f"Installed {package}.v1.1.0; it was {package}.v1.0.0")
    described = olm.control_plane.kubectl("describe", "clusterextension", package)
    assert f"Installed {package}.v1.1.0" in described

    olm.control_plane.end(extension_path(package))
    assert reasons(api, package, "Uninstalled")[5:] == ["Uninstalled"]


def test_a_settled_extension_is_not_written_by_a_restart(
    olm: Olm,
    scraper: Scraper,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
) -> None:
    """Neither its status nor an Event; the metrics say that it was looked at."""
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    olm.control_plane.apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    settled = (
        "minimum availability"  # what is said of its Deployment in the end: there are no nodes
    )
    api.wait_condition(extension_path(package), "Available", "False", message=settled)
    reported = reasons(api, package, "Installed")
    paths = (
        extension_path(package),
        f"/apis/olm.operatorframework.io/v1/clusterobjectsets/{package}-1",
    )
    before = [metadata(api.get(path) or {})["resourceVersion"] for path in paths]
    olm.kill(olm.operator_controller)
    olm.start_operator_controller(*scraper.flags)
    time.sleep(5.0)
    assert [metadata(api.get(path) or {})["resourceVersion"] for path in paths] == before
    assert [e["reason"] for e in api.events(package)] == reported
    olm.control_plane.end(extension_path(package))


def test_metrics_need_a_token_that_is_known_and_allowed(scraper: Scraper, token: str) -> None:
    assert scraper.scrape("").status_code == 401
    assert scraper.scrape("forged").status_code == 401
    assert scraper.scrape(token).status_code == 403


def test_metrics_tell_each_extension_until_it_is_gone(
    olm: Olm,
    scraper: Scraper,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    reader: str,
) -> None:
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    olm.control_plane.apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    prefix, of = "operator_controller_extension_", f'extension="{package}"'
    wanted = {
        f'{prefix}condition{{{of},reason="Succeeded",status="True",type="Installed"}} 1.0',
        f'{prefix}installed_info{{bundle="{package}.v1.0.0",{of},version="1.0.0"}} 1.0',
        'leader_election_master_status{name="9c4404e7.operatorframework.io"} 1.0',
    }
    text = until(scraper, reader, lambda text: wanted <= set(text.splitlines()))
    numbers = dict(line.rpartition(" ")[::2] for line in text.splitlines() if line[0] != "#")
    extensions = 'controller="controller-operator-cluster-extension-controller"'
    assert (
        float(numbers[f'controller_runtime_reconcile_total{{{extensions},result="success"}}']) > 0
    )
    assert float(numbers['rest_client_requests_total{code="200",method="GET"}']) > 0
    assert float(numbers['operator_controller_catalog_lookups_total{result="miss"}']) > 0
    assert float(numbers["operator_controller_watches"]) > 0
    assert time.time() - float(numbers[f"{prefix}last_success_timestamp_seconds{{{of}}}"]) < 60
    olm.control_plane.end(extension_path(package))
    until(scraper, reader, lambda text: package not in text)


def test_what_keeps_pods_from_running_is_reported(
    olm: Olm,
    scraper: Scraper,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
) -> None:
    """No kubelet runs here: the status of the pod is written as one would write it."""
    serve_catalog(package, publish_catalog(BundleSpec(package=package, version="1.0.0")))
    olm.control_plane.apply(with_administrator(package))
    api.wait_installed(package, "1.0.0")
    path, deadline = f"/api/v1/namespaces/{package}/pods", time.monotonic() + 60
    while not (pods := api.list(path, labels=f"app={package}")):
        assert time.monotonic() < deadline, "the Deployment has no pods"
        time.sleep(0.2)
    image = "registry.example.com/operator:v1.0.0"
    waiting = {"reason": "ErrImagePull", "message": "no such host"}
    container = {"name": "operator", "image": image, "imageID": "", "ready": False}
    statuses = [{**container, "restartCount": 0, "state": {"waiting": waiting}}]
    name = metadata(pods[0])["name"]
    api.patch(f"{path}/{name}/status", {"status": {"containerStatuses": statuses}})
    reported = f"ImagePullBackOff (image {image})"
    found = api.wait_condition(extension_path(package), "Available", "False", message=reported)
    available = condition(found, "Available") or {}
    assert available["message"].startswith(f"Deployment {package}/{package}-operator: 0/1 availab")
    olm.control_plane.end(extension_path(package))


def test_an_installation_and_an_update_ask_so_much_of_the_server(
    olm: Olm,
    scraper: Scraper,
    api: Api,
    package: str,
    publish_catalog: Publish,
    serve_catalog: Serve,
    reader: str,
) -> None:
    """An object that is read twice or watched anew is noticed by nobody but the server."""
    bundles = (BundleSpec(package=package, version=v, crd_group=f"{package}.example.com")
               for v in ("1.0.0", "1.1.0"))  # fmt: skip
    serve_catalog(package, publish_catalog(*bundles))
    asked, since = requests_once_quiet(scraper, reader), time.monotonic()
    for version, wish in (("1.0.0", with_administrator), ("1.1.0", extension)):
        olm.control_plane.apply(wish(package, version))
        api.wait_installed(package, version)
        before, asked = asked, requests_once_quiet(scraper, reader)
        # Pods that are not ready, and which groups are served, are asked about again and again.
        seconds = time.monotonic() - since
        since += seconds
        assert (asked - before)["GET"] <= 32 + seconds, (asked - before, seconds)
        assert (asked - before).total() <= 64 + seconds, (asked - before, seconds)
    olm.control_plane.end(extension_path(package))


def requests_once_quiet(scraper: Scraper, token: str) -> Counter[str]:
    """What operator-controller has asked by method, once a second brings no reconcile."""
    deadline = time.monotonic() + 60
    reconciles: Counter[str] | None = None
    while True:
        text = scraper.scrape(token).raise_for_status().text
        before = reconciles
        reconciles = summed(text, "controller_runtime_reconcile_total", "controller")
        if before == reconciles:
            return requests_by_method(text)
        assert time.monotonic() < deadline, text
        time.sleep(1)


def until(scraper: Scraper, token: str, holds: Callable[[str], bool]) -> str:
    """The metrics, once they are so."""
    deadline = time.monotonic() + 60
    while not holds(text := scraper.scrape(token).raise_for_status().text):
        assert time.monotonic() < deadline, text
        time.sleep(0.2)
    return text
