"""`olm install`, `plan`, `status` and `uninstall` on a control plane that writes an audit log."""

import asyncio
import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from api.objects import is_deleting
from e2e.harness.components import AuditLevel
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.bundles import BundleSpec
from e2e.olm.manifests import catalog
from e2e.olm.programs import Olm
from olm_client.lifecycle.readiness import Readiness
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from tests.integration.clusters import own_control_plane, own_olm
from tests.integration.olm_shell import Shell, trusting

pytestmark = pytest.mark.integration

PLANNER = "planner"
KINDS = [
    f"{plural}.olm.operatorframework.io"
    for plural in ("clusterextensions", "clustercatalogs", "clusterobjectsets")
]
APPLY = ("apply", "--server-side", "--field-manager=olm", "-f", "-")
"""As hints have it."""
REVIEWS = {"selfsubjectrulesreviews", "selfsubjectaccessreviews"}

Publish = Callable[..., str]
Serve = Callable[[str, str], None]


control_plane = own_control_plane(audit=AuditLevel.METADATA)
olm = own_olm()


@pytest.fixture(scope="module")
def users(olm: Olm, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Shell]:
    return trusting(olm, tmp_path_factory.mktemp("user"))


@pytest.fixture(scope="module")
def shell(olm: Olm, users: Callable[[Path], Shell]) -> Shell:
    return users(olm.control_plane.kubeconfig)


@pytest.fixture(scope="module")
def planner(olm: Olm, users: Callable[[Path], Shell]) -> Shell:
    """An administrator of a name of his own, to be found in the audit log."""
    return users(olm.control_plane.kubeconfig_for(PLANNER, ["system:masters"]))


@pytest.fixture
def served(package: str, publish_catalog: Publish, serve_catalog: Serve) -> str:
    """A package of two versions; the catalog and the package are called the same."""
    group = f"{package}.example.com"
    first = BundleSpec(
        package=package,
        version="1.0.0",
        configmaps=("settings", "old"),
        data={"key": "value", "gone": "soon"},
        crd_group=group,
    )
    second = BundleSpec(
        package=package,
        version="2.0.0",
        configmaps=("settings", "new"),
        data={"key": "changed"},
        crd_group=group,
    )
    serve_catalog(package, publish_catalog(first, second))
    return package


def configmap(package: str, name: str) -> str:
    return f"/api/v1/namespaces/{package}/configmaps/{package}-{name}"


def changes(plan: Any) -> dict[tuple[str, str], str]:
    """What becomes of objects, the hashes in the names of roles left out."""
    return {
        (each["kind"], each["name"].split(".v")[0]): each["action"]
        for each in plan["objects"]
        if each["kind"] not in ("ClusterRole", "ClusterRoleBinding")
    }


# A life


def test_a_life_from_a_name_to_nothing(
    olm: Olm, api: Api, shell: Shell, planner: Shell, served: str
) -> None:
    package = served
    result = shell("install", package, "--version", "1.x", "--wait", "--timeout=180")
    assert result.returncode == 0, result.stderr
    assert f"  ClusterExtension {package}: created\n" in result.stdout
    assert f"{package}: {package}.v1.0.0 is installed\n" in result.stdout
    assert api.get(configmap(package, "old")) is not None
    _again_and_otherwise(shell, package)
    api.wait_condition(extension_path(package), "Available", "False")
    _status_of_one(shell, package)
    _progress_while_waiting(olm, package)
    _requests_are_written_and_made_as_somebody_else(shell, package)
    plan = _plan_that_writes_nothing(olm, planner, package)
    _what_was_planned_comes_true(api, shell, package, plan)
    _uninstall(olm, api, shell, package)


def _again_and_otherwise(shell: Shell, package: str) -> None:
    again = shell.answer("install", package, "--version", "1.x", "--wait")
    assert [each["result"] for each in again["objects"]] == ["unchanged"]
    assert again["status"]["version"] == "1.0.0"
    other = shell("install", package, "--version", "2.0.0")
    assert other.returncode == 1
    assert 'spec.source.catalog.version: "1.x" -> "2.0.0"' in other.stderr
    assert f"olm plan {package}" in other.stderr


def _status_of_one(shell: Shell, package: str) -> None:
    facts = shell.answer("status", package)
    states = {(each["kind"], each["name"]): each["state"] for each in facts["objects"]}
    assert states["ConfigMap", f"{package}-settings"] == "Ready"
    assert states["Deployment", f"{package}-operator"] == "NotReady", "there are no nodes here"
    assert (facts["phase"], facts["bundle"]) == ("Degraded", f"{package}.v1.0.0")
    overview = shell("status")
    extensions, _, _ = overview.stdout.partition("CATALOG")
    [line] = [line for line in extensions.splitlines() if line.startswith(package)]
    assert line.split()[1:5] == [package, "1.0.0", "1.x", "Degraded"]
    assert "\x1b" not in overview.stdout, "a pipe gets no colours"
    _in_other_formats(shell, package)


def _in_other_formats(shell: Shell, package: str) -> None:
    named = f"clusterextension.olm.operatorframework.io/{package}"
    assert named in shell("status", "-o", "name").stdout.splitlines()
    template = '{range .objects[*]}{.kind}={.state}{"\\n"}{end}'
    states = shell("status", package, "-o", f"jsonpath={template}").stdout.splitlines()
    assert {"ConfigMap=Ready", "Deployment=NotReady"} <= set(states)
    wide, _, _ = shell("status", "-o", "wide").stdout.partition("\nCATALOG")
    [line] = [line for line in wide.splitlines() if line.startswith(package)]
    assert f"{package}.v1.0.0" in line
    assert "0/1 available" in line


def _progress_while_waiting(olm: Olm, package: str) -> None:
    """What --wait would show of the objects as they are now."""

    async def read(kubeconfig: Path) -> list[str]:
        async with KubeClient.connect(load_access(str(kubeconfig))) as kube:
            return await Readiness(kube, package).lines()

    count, waiting = asyncio.run(read(olm.control_plane.kubeconfig))
    ready, total = (int(word) for word in count.removesuffix(" objects ready").split(" of "))
    assert 3 < ready == total - 1
    assert waiting.startswith(f"  waits for Deployment {package}/{package}-operator: ")
    assert "0/1 available" in waiting
    nobody = olm.control_plane.kubeconfig_for(f"{package}-nobody")
    assert asyncio.run(read(nobody)) == []


def _requests_are_written_and_made_as_somebody_else(shell: Shell, package: str) -> None:
    written = shell("status", package, "-v", "6", "--as", "jane", "--as-group", "system:masters")
    assert written.returncode == 0, written.stderr
    path = "/apis/olm.operatorframework.io/v1/clusterextensions"
    assert re.search(rf"^GET https://\S+{path}\S* 200 OK in \d+ ms$", written.stderr, re.MULTILINE)
    headers = shell("--as=jane", "status", "-v8")
    assert headers.returncode == 1
    assert 'User "jane" cannot list resource "clusterextensions"' in headers.stderr
    assert "> Impersonate-User: jane" in headers.stderr
    # Catalogs are read through the API server by the same person.
    search = shell("search", package, "--as", "jane", "-v6")
    assert 'User "jane" cannot list resource "clustercatalogs"' in search.stderr
    gone = shell("status", "--context", "nowhere")
    assert 'the kubeconfig has no context "nowhere"' in gone.stderr


def _plan_that_writes_nothing(olm: Olm, planner: Shell, package: str) -> Any:
    """The plan of an update that lacks rights, and of one that has them."""
    same = planner.answer("plan", package)["plans"][0]
    assert {each["action"] for each in same["objects"]} == {"unchanged"}
    [lacking] = planner.answer("plan", package, "--version", "2.0.0", code=1)["plans"]
    [obstacle] = lacking["obstacles"]
    assert obstacle["message"].startswith("pre-authorization failed: service account requires")
    assert "--update-from 1.0.0" in obstacle["hint"]
    assert obstacle["hint"].endswith(" | kubectl apply --server-side --field-manager=olm -f -")
    assert lacking["permissions"]["needed"]
    rights = planner("rbac", package, "--version=2.0.0", "--update-from=1.0.0")
    olm.control_plane.kubectl(*APPLY, stdin=rights.stdout)
    [plan] = planner.answer("plan", package, "--version", "2.0.0")["plans"]
    named = planner("plan", package, "--version", "2.0.0", "-o", "name").stdout.splitlines()
    moved = [each for each in plan["objects"] if each["action"] != "unchanged"]
    assert len(named) == len(moved)
    assert all(name.endswith(each["name"]) for name, each in zip(named, moved, strict=True))
    assert plan["obstacles"] == []
    assert plan["images"] == {
        "added": ["registry.example.com/operator:v2.0.0"],
        "removed": ["registry.example.com/operator:v1.0.0"],
    }
    assert _writes(olm) == []
    return plan


def _writes(olm: Olm) -> list[str]:
    """The requests of the planner that were more than looking."""
    events = [
        event for event in olm.control_plane.audit_events() if event["user"]["username"] == PLANNER
    ]
    assert {event["verb"] for event in events} >= {"get", "list", "patch", "create"}
    return [
        f"{event['verb']} {event['requestURI']}"
        for event in events
        if event["verb"] not in ("get", "list", "watch")
        and "dryRun=All" not in event["requestURI"]
        and event["objectRef"]["resource"] not in REVIEWS
    ]


def _what_was_planned_comes_true(api: Api, shell: Shell, package: str, plan: Any) -> None:
    planned = changes(plan)
    assert planned == {
        ("ServiceAccount", f"{package}-operator"): "unchanged",
        ("ConfigMap", f"{package}-settings"): "change",
        ("ConfigMap", f"{package}-new"): "create",
        ("ConfigMap", f"{package}-old"): "delete",
        ("CustomResourceDefinition", f"things.{package}.example.com"): "unchanged",
        ("Deployment", f"{package}-operator"): "change",
    }
    [settings] = [e for e in plan["objects"] if e["name"] == f"{package}-settings"]
    assert settings["fields"] == [
        {"path": "data.gone", "old": "soon", "new": None},
        {"path": "data.key", "old": "value", "new": "changed"},
    ]
    [deployment] = [e for e in plan["objects"] if e["kind"] == "Deployment"]
    assert [each["path"].rpartition(".")[2] for each in deployment["fields"]] == ["image"]

    api.patch(extension_path(package), {"spec": {"source": {"catalog": {"version": "2.0.0"}}}})
    api.wait_installed(package, "2.0.0")
    assert (api.get(configmap(package, "settings")) or {})["data"] == {"key": "changed"}
    assert api.get(configmap(package, "new")) is not None
    api.wait_gone(configmap(package, "old"))
    assert {each["action"] for each in shell.answer("plan", package)["plans"][0]["objects"]} == {
        "unchanged"
    }


def _uninstall(olm: Olm, api: Api, shell: Shell, package: str) -> None:
    kubectl, crd = olm.control_plane.kubectl, f"things.{package}.example.com"
    for thing in things(package):
        kubectl("apply", "-f", "-", stdin=json.dumps(thing))
    preview = shell.answer("uninstall", package, "--preview")
    assert {each["kind"] for each in preview["objects"]} >= {
        *("ConfigMap", "Deployment", "CustomResourceDefinition", "ClusterRole"),
    }
    [found] = preview["customResources"]
    assert (found["crd"], found["count"]) == (crd, 2)
    assert found["examples"] == [f"{package}/mine", f"{package}/owned"]
    [obstacle] = preview["obstacles"]
    assert obstacle["message"].startswith("1 Thing object has finalizers (example.com/clean)")
    account = {(each["kind"], each["namespace"]) for each in preview["account"]["deleted"]}
    assert account == ACCOUNT | {("Role", package), ("RoleBinding", package)} | {
        ("ServiceAccount", package)
    }
    assert preview["account"]["kept"] == []
    asked = shell("uninstall", package)
    assert asked.returncode == 1
    assert "--yes deletes without asking" in asked.stderr
    assert api.get(extension_path(package)) is not None
    _cascade_waits_for_finalizers(api, shell, package)

    held = shell("uninstall", package, "--yes", "--timeout=2")
    assert held.returncode == 1
    assert f"{package} is not gone after 2 s" in held.stderr
    assert " objects are gone\n" in held.stderr
    waits = f"{crd} is being deleted and waits for its objects to go"
    api.wait_condition(extension_path(package), "Progressing", "True", message=waits)
    facts = shell.answer("status", package)
    assert (facts["phase"], waits in facts["message"]) == ("Deleting", True)
    kubectl("patch", crd, "mine", "-n", package, *UNHELD)
    api.wait_gone(extension_path(package))
    done = shell("uninstall", package, "--yes")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{package} is gone, but not its account\n")
    assert f"Namespace {package}: deleted\n{package} is gone\n" in done.stdout
    assert api.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}") is None
    assert api.get(f"/api/v1/namespaces/{package}") is None
    assert "there is no ClusterExtension" in shell("uninstall", package, "--yes").stderr


UNHELD = ("--type=merge", "-p", '{"metadata":{"finalizers":null}}')
ACCOUNT = {("Namespace", ""), ("ClusterRole", ""), ("ClusterRoleBinding", "")}


def things(package: str) -> Iterator[dict[str, Any]]:
    """Two objects of a definition that comes with the package, one of them held."""
    for name, finalizers in (("mine", ["example.com/clean"]), ("owned", [])):
        yield {
            "apiVersion": f"{package}.example.com/v1",
            "kind": "Thing",
            "metadata": {"name": name, "namespace": package, "finalizers": finalizers},
        }


def _cascade_waits_for_finalizers(api: Api, shell: Shell, package: str) -> None:
    """The owner goes first; nothing of the extension is touched before it is gone."""
    path = f"/apis/{package}.example.com/v1/namespaces/{package}/things"
    owner = api.get(f"{path}/mine") or {}
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": "Thing",
        "name": "mine",
        "uid": owner["metadata"]["uid"],
    }
    api.patch(f"{path}/owned", {"metadata": {"ownerReferences": [reference]}})
    held = shell("uninstall", package, "--cascade", "--yes", "--timeout=1")
    assert held.returncode == 1
    assert (
        f"0 of 2 custom resources are gone after 1 s, and {package} is not deleted" in held.stderr
    )
    assert f"Thing {package}/mine is being deleted and waits for the finalizers" in held.stderr
    assert "example.com/clean\n" in held.stderr
    assert f"{package} does not work: " in held.stderr, "its Deployment is not available here"
    assert f"kubectl patch thing.{package}.example.com mine --namespace {package}" in held.stderr
    owned = api.get(f"{path}/owned") or {}
    assert "deletionTimestamp" not in owned["metadata"]
    assert "deletionTimestamp" not in (api.get(extension_path(package)) or {})["metadata"]


# What is planned before it is there


def test_what_install_prints_can_be_planned_and_applied(
    olm: Olm, api: Api, shell: Shell, served: str
) -> None:
    printed = shell("install", served, "--version", "1.0.0", "--catalog", served, "--dry-run")
    assert printed.returncode == 0, printed.stderr
    assert api.get(extension_path(served)) is None
    answer = shell.answer("plan", "-", stdin=printed.stdout)
    assert {each["action"] for each in answer["beside"]} == {"create"}
    [plan] = answer["plans"]
    assert (plan["new"], plan["obstacles"]) == (True, [])
    assert {each["action"] for each in plan["objects"]} == {"create"}
    assert api.get(f"/api/v1/namespaces/{served}") is None

    alone = shell("install", served, "--dry-run", "--no-account").stdout
    [stopped] = shell.answer("plan", "-", stdin=alone, code=1)["plans"]
    assert stopped["obstacles"][0]["message"] == f"Namespace {served} is not there"

    olm.control_plane.kubectl("apply", "-f", "-", stdin=printed.stdout)
    api.wait_installed(served, "1.0.0")
    second = shell("install", served, "--dry-run", "--extension=other", "-n", "other").stdout
    refused = shell("plan", "-", stdin=second)
    assert refused.returncode == 1
    assert f"it belongs to ClusterExtension '{served}'" in refused.stdout
    _cascade(olm, api, shell, served)


def _cascade(olm: Olm, api: Api, shell: Shell, package: str) -> None:
    """Nothing else goes before the last custom resource; then all that olm wrote."""
    [thing, _] = things(package)
    olm.control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(thing))
    path = f"/apis/{package}.example.com/v1/namespaces/{package}/things/mine"
    removing = shell.start("uninstall", package, "--cascade", "--yes")
    api.wait(path, lambda live: live is not None and is_deleting(live), what="it is deleted")
    assert api.get(f"/apis/apps/v1/namespaces/{package}/deployments/{package}-operator") is not None
    assert "deletionTimestamp" not in (api.get(extension_path(package)) or {})["metadata"]
    api.patch(path, {"metadata": {"finalizers": None}})
    output, progress = removing.communicate(timeout=120)
    assert removing.returncode == 0, progress
    assert "0 of 1 custom resources are gone\n" in progress
    assert f"ServiceAccount {package}/{package}-installer: deleted\n" in output
    assert f"Namespace {package} stays: olm did not make it\n{package} is gone\n" in output
    crd = f"things.{package}.example.com"
    assert api.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}") is None


# What goes wrong


def test_whoever_may_not_is_shown_what_he_lacks(
    olm: Olm, users: Callable[[Path], Shell], served: str, api: Api
) -> None:
    nobody = users(olm.control_plane.kubeconfig_for("nobody"))
    for command in (["status"], ["install", served], ["plan", served], ["uninstall", served]):
        result = nobody(*command)
        assert result.returncode in (1, 2)
        assert result.stderr.startswith("error: ")
        assert 'User "nobody" cannot ' in result.stderr
        assert "Traceback" not in result.stderr
    reader = olm.control_plane.kubeconfig_for("reader", ["readers"])
    rules = "--verb=get,list,watch", f"--resource={','.join(KINDS)}"
    kubectl = olm.control_plane.kubectl
    kubectl("create", "clusterrole", f"{served}-reader", *rules)
    kubectl("create", "clusterrolebinding", f"{served}-reader", "--group=readers",
            f"--clusterrole={served}-reader")  # fmt: skip
    refused = users(reader)("install", served)
    assert "ClusterExtension " in refused.stderr
    assert "--dry-run the command prints what somebody with these rights can apply" in (
        refused.stderr
    )
    assert api.get(f"/api/v1/namespaces/{served}") is None


def test_an_account_passes_between_olm_and_kubectl(olm: Olm, shell: Shell, served: str) -> None:
    kubectl = olm.control_plane.kubectl
    assert shell("install", served, "--version", "1.x").returncode == 0
    update = shell("rbac", served, "--version=2.0.0", "--update-from=1.0.0")
    kubectl(*APPLY, stdin=update.stdout)
    kubectl("delete", "clusterextension", served)
    kubectl("apply", "-f", "-", stdin=shell("rbac", served, "--version=1.0.0").stdout)
    result = shell.answer("install", served, "--version", "2.0.0")
    results = {(each["kind"], each["result"]) for each in result["objects"]}
    assert ("ClusterRole", "changed") in results, "its own, though kubectl applied it"
    kubectl("delete", "clusterextension", served)
    edited = '{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}'
    patch = ("patch", "clusterrole", f"{served}-installer", "--type=merge", "-p", edited)
    kubectl(*patch, "--field-manager=kubectl-edit")
    refused = shell("install", served, "--version", "2.0.0")
    assert refused.returncode == 1
    assert 'conflict with "kubectl-edit"' in refused.stderr
    assert "hint: somebody else keeps it otherwise" in refused.stderr


def test_a_name_that_is_wrong_is_reported_with_what_there_is(
    olm: Olm, api: Api, shell: Shell, served: str
) -> None:
    def hint(*arguments: str, code: int = 1) -> str:
        result = shell(*arguments)
        assert (result.returncode, result.stdout) == (code, "")
        return result.stderr.partition("hint: ")[2].strip()

    nearly = served[:-1]
    assert hint("install", served, "--catalog", nearly).startswith(f"did you mean {served}?")
    assert hint("install", served, "--channel", "stabel") == (
        'there is no channel "stabel": did you mean stable?'
    )
    assert hint("graph", served, "--channel", "stabel") == "did you mean stable?"
    assert hint("install", served, "--catalog", "./none") == "give the root folder of a catalog"
    wide = hint("install", served, "--watch-namespace", "apps")
    assert wide == f"{served}.v2.0.0 always watches all namespaces: leave --watch-namespace out"
    assert shell("install", served, "--version", "1.x").returncode == 0
    for command in ("why", "status", "history", "rollback", "uninstall", "plan"):
        code = 2 if command == "plan" else 1
        assert hint(command, nearly, code=code) == f"did you mean {served}?"
    off, on = ({"spec": {"availabilityMode": mode}} for mode in ("Unavailable", "Available"))
    api.patch(catalog_path(served), off)
    try:
        api.wait_condition(catalog_path(served), "Serving", "False")
        is_off = f"catalog {served} is switched off: olm catalog enable {served} takes it into use"
        assert is_off in hint("install", served, "--catalog", served)
        why = shell("why", served)
        assert is_off in why.stdout
        assert "packageName" not in why.stdout
    finally:
        api.patch(catalog_path(served), on)


def test_a_package_or_a_catalog_that_is_not_there(
    olm: Olm, api: Api, shell: Shell, served: str
) -> None:
    wrong = shell("install", f"{served}x")
    assert f'no bundles found for package "{served}x"' in wrong.stderr
    assert f"hint: did you mean {served}" in wrong.stderr
    name = f"{served}-broken"
    olm.control_plane.apply(catalog(name, "localhost:1/none:latest"))
    try:
        api.wait_condition(catalog_path(name), "Progressing", "True")
        selector = f"olm.operatorframework.io/metadata.name={name}"
        away = shell("install", served, "--selector", selector)
        assert away.returncode == 1
        assert f'catalog "{name}" is not being served' in away.stderr
        rows = shell.answer("status")["catalogs"]
        assert rows[0]["name"] == name, "what does not go as it should comes first"
        assert rows[0]["phase"] == "Retrying"
    finally:
        olm.control_plane.end(catalog_path(name))


def test_ctrl_c_ends_waiting_and_watching_without_a_traceback(
    olm: Olm, api: Api, shell: Shell, served: str
) -> None:
    watching = shell.start("status", "--watch", "-o", "json")
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())
    assert served not in [each["name"] for each in first["extensions"]]
    olm.stop_operator_controller()  # so that there is something to wait for
    try:
        waiting = shell.start("install", served, "--version=1.0.0", "--wait")
        assert waiting.stderr is not None
        line = waiting.stderr.readline()
        assert line == f"{served}: Pending: operator-controller has not looked at it yet\n"
        waiting.send_signal(signal.SIGINT)
        _, rest = waiting.communicate(timeout=120)
        assert waiting.returncode == 130
        assert rest.strip().endswith(f"See how it goes: olm status {served}")
        assert api.get(extension_path(served)) is not None
    finally:
        olm.start_operator_controller()
    later = time.monotonic() + 180.0
    seen: list[str] = []
    while "1.0.0" not in seen and time.monotonic() < later:
        rows = json.loads(watching.stdout.readline())["extensions"]
        seen += [each["version"] for each in rows if each["name"] == served]
    assert "1.0.0" in seen
    watching.send_signal(signal.SIGINT)
    _, rest = watching.communicate(timeout=120)
    assert (watching.returncode, rest) == (130, "")
