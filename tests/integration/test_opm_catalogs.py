"""The documents' way from a bundle to an installed operator, as the how-to has it.

The registry has TLS and asks for a password. No engine is there: `opm`, `olm`, kubectl and jq.
"""

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.objects import KubeObject
from e2e.harness.controlplane import ControlPlane
from e2e.harness.registry import PasswordAuth, Registry, TokenAuth
from e2e.olm.api import Api, catalog_path, extension_path
from e2e.olm.pages import DOCS, HOW_TO, steps
from e2e.olm.programs import SYSTEM_NAMESPACE, Olm
from tests.integration.clusters import own_control_plane
from tests.integration.opm_user import HELLO, PLACE, Shell, commands, printed, user, values

pytestmark = pytest.mark.integration

PAGE = HOW_TO / "build-a-catalog.md"
SECRET = "catalogs"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """The registry that wants a password for everything."""
    with Registry(tmp_path_factory.mktemp("locked"), auth=PasswordAuth()) as running:
        yield running


control_plane = own_control_plane()
"""Programs with other flags than the session's would do the same work twice."""


@pytest.fixture(scope="module")
def world(
    tmp_path_factory: pytest.TempPathFactory, control_plane: ControlPlane, locked: Registry
) -> Iterator[Olm]:
    """Both programs, with the pull secret for the registry."""
    olm = Olm(tmp_path_factory.mktemp("world"), control_plane, locked)
    olm.install()
    config = json.dumps(locked.docker_config())
    secret = ("create", "secret", "generic", SECRET, "-n", SYSTEM_NAMESPACE)
    kind = "--type=kubernetes.io/dockerconfigjson"
    control_plane.kubectl(*secret, kind, f"--from-literal=.dockerconfigjson={config}")
    _let_catalogd_read_it(control_plane)
    flag = f"--global-pull-secret={SYSTEM_NAMESPACE}/{SECRET}"
    try:
        control_plane.restart_controller_manager()
        olm.start_catalogd(flag)
        olm.start_operator_controller(flag)
        yield olm
    finally:
        olm.stop()


def _let_catalogd_read_it(control_plane: ControlPlane) -> None:
    """As the chart does for `globalPullSecret`."""
    role, where = "olmv1-global-pull-secret", ("-n", SYSTEM_NAMESPACE)
    rule = ("--verb=get", "--resource=secrets", f"--resource-name={SECRET}")
    control_plane.kubectl("create", "role", role, *where, *rule)
    account = f"--serviceaccount={SYSTEM_NAMESPACE}:catalogd-controller-manager"
    control_plane.kubectl("create", "rolebinding", role, *where, f"--role={role}", account)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, locked: Registry, world: Olm) -> Shell:
    return user(tmp_path_factory.mktemp("user"), locked, world)


def test_the_how_to_does_what_it_says(world: Olm, shell: Shell, locked: Registry) -> None:
    section = commands(PAGE)
    (login,), (push,) = section["Log in"], section["Push the bundle"]
    assert "opm login" in shell(push).stderr, "who is not logged in is shown how to"
    assert printed(shell(login)) == "Login Succeeded!\n"
    bundle = printed(shell(push))
    *make, validate, build = section["Make the catalog"]
    for command in make:
        printed(shell(command))
    assert printed(shell(validate)) == "0\n"
    catalog = printed(shell(build))
    assert catalog.startswith(f"{locked.address}/team/my-catalog@sha256:")
    assert printed(shell(build)) == catalog
    assert printed(shell(push)) == bundle

    with Api(world.control_plane) as api:
        for command in section["Install from it"]:
            printed(shell(command))
        api.wait_installed(HELLO, "0.1.0")
        assert resolved(api.get(catalog_path("my-catalog"))) == catalog.strip()
        _queries(shell, section["Ask a catalog"], locked.address)

        take_out, update, follow, *rest = section["Update or filter a catalog image"]
        printed(shell(take_out))
        newer = printed(shell(update)).splitlines()[-1]
        sooner = {"spec": {"source": {"image": {"pollIntervalMinutes": 2}}}}
        api.patch(catalog_path("my-catalog"), sooner)
        moved = f"{newer} unpacked"
        path = catalog_path("my-catalog")
        api.wait(path, lambda obj: resolved(obj) == newer, what=moved)
        printed(shell(follow))
        api.wait_installed(HELLO, "0.2.0")
        for command in rest:
            printed(shell(command))
        mine, composite = (
            values(printed(shell(f"opm render {PLACE}/team/{name}:latest")))
            for name in ("my-catalog", "composite")
        )
        assert composite == mine
        api.delete(extension_path(HELLO))
        api.wait_gone(extension_path(HELLO))
        api.delete(path)


def test_the_reference_does_what_it_says(shell: Shell, locked: Registry) -> None:
    """After the how-to, whose catalog and bundle it goes on with."""
    mirror = "mirror.example.org"
    printed(shell("cp -r my-catalog catalog"))
    for version in ("v1.0.0", "v1.1.0"):
        folder = "bundle" if version == "v1.0.0" else "bundle-0.2.0"
        printed(shell(f"opm build {folder} -t {PLACE}/team/hello-bundle:{version} --push"))
    printed(shell(f"opm copy {PLACE}/team/hello-bundle:v1.0.0 {PLACE}/team/bundle:v1"))
    printed(shell(f"opm copy {PLACE}/team/my-catalog:latest {PLACE}/team/catalog:v1"))
    printed(shell(f"opm copy {PLACE}/team/my-catalog:latest {PLACE}/team/opm:latest"))
    for step in steps(DOCS / "reference" / "opm.md"):
        command = step.command.replace(mirror, f"{PLACE}/mirror")
        if "opm mirror" not in command:
            printed(shell(command))
            continue
        for line in command.splitlines():  # the operator's own image is in no registry
            done = shell(f"{line} --allow-missing")
            lacking = re.findall(
                r"^  .*image \S*?([^/\s\"]+/[^/\s\"]+:[\d.]+)", done.stderr, re.MULTILINE
            )
            assert sorted(lacking) == [f"hello/{HELLO}:0.1.0", f"hello/{HELLO}:0.2.0"], done.stderr


def resolved(catalog: KubeObject | None) -> str:
    status = (catalog or {}).get("status") or {}
    source = status.get("resolvedSource") or {"image": {"ref": ""}}
    return str(source["image"]["ref"])


def _queries(shell: Shell, queries: list[str], address: str) -> None:
    """Each query of the documents, on the catalog with one version."""
    answers = [values(printed(shell(query))) for query in queries]
    packages, everywhere, package, blobs, channels, versions, head, bundles, needs, images = answers
    assert [each["name"] for each in packages] == [HELLO]
    assert packages == package
    assert package[0]["description"] == "# Hello\n\nSays hello.\n"
    assert package[0]["icon"]["mediatype"] == "image/svg+xml"
    assert everywhere == [HELLO]
    assert [each["schema"] for each in blobs] == ["olm.channel", "olm.bundle"]
    assert channels == ["preview"]
    assert versions == bundles == [f"{HELLO}.v0.1.0"]
    assert head == [blobs[0]]
    assert needs == [blobs[1]]
    assert {"type": "olm.package", "value": {"packageName": HELLO, "version": "0.1.0"}} in needs[0][
        "properties"
    ]
    image = f"{address}/team/hello-operator-bundle:v0.1.0"
    assert images == [{"name": f"{HELLO}.v0.1.0", "image": image}]


# Registries of other kinds


@pytest.mark.parametrize("kind", ["token", "plain"])
def test_images_go_to_registries_and_come_back(kind: str, tmp_path: Path) -> None:
    auth = TokenAuth() if kind == "token" else None
    with Registry(tmp_path / "registry", tls=kind == "token", auth=auth) as registry:
        shell = user(tmp_path / "user", registry)
        option = ""
        if auth is None:
            refused = shell(f"opm build bundle -t {PLACE}/it:v1 --push").stderr
            assert "does not speak TLS" in refused
            assert "--use-http" in refused
            option = "--use-http"
        else:
            printed(shell(f"opm login {PLACE} -u user --password-stdin < password"))
        pushed = printed(shell(f"opm build bundle -t {PLACE}/it:v1 --push {option}"))
        before = len(registry.requests())
        assert printed(shell(f"opm {option} build bundle -t {PLACE}/it:v2 --push")) == pushed
        sent = [r for r in registry.requests()[before:] if r.method in {"POST", "PATCH"}]
        assert sent == [], "what the registry has is not sent again"
        from_image = printed(shell(f"opm render {PLACE}/it:v2 {option}"))
        template = f"--alpha-image-ref-template {PLACE}/it:v2"
        assert from_image == printed(shell(f"opm render bundle {template}"))
        both = printed(shell(f"opm render {PLACE}/it:v1 bundle bundle-0.2.0 {option}"))
        assert [each["name"] for each in values(both)] == [
            f"{HELLO}.v0.1.0",
            f"{HELLO}.v0.1.0",
            f"{HELLO}.v0.2.0",
        ]


def test_certificates_of_unknown_authorities(locked: Registry, tmp_path: Path) -> None:
    shell = user(tmp_path / "user", locked)
    build = f"opm build bundle -t {PLACE}/tls:v1 --push --authfile auth.json"
    login = f"opm login {PLACE} -u user --password-stdin --authfile auth.json < password"
    unknown = "unset SSL_CERT_FILE; "
    assert "is not trusted" in shell(unknown + login).stderr
    printed(shell(unknown + login + " --skip-tls-verify"))
    assert stat.S_IMODE((tmp_path / "user" / "auth.json").stat().st_mode) == 0o600
    assert "SSL_CERT_FILE" in shell(unknown + build).stderr
    printed(shell(f"{unknown} {build} --skip-tls-verify"))
    rendered = f"opm --skip-tls-verify render {PLACE}/tls:v1 --authfile auth.json"
    assert values(printed(shell(unknown + rendered)))[0]["name"] == f"{HELLO}.v0.1.0"


def test_logins_that_are_refused_and_forgotten(locked: Registry, tmp_path: Path) -> None:
    shell = user(tmp_path / "user", locked)
    wrong = shell(f"opm login {PLACE} -u user -p wrong")
    assert wrong.returncode == 1
    assert "does not take this user name and password" in wrong.stderr
    assert not list(tmp_path.glob("user/.config/containers/*"))
    printed(shell(f"opm login {PLACE} -u user --password-stdin < password"))
    printed(shell(f"opm build bundle -t {PLACE}/login:v1 --push"))
    printed(shell(f"opm logout {PLACE}"))
    assert "refuses access" in shell(f"opm build bundle -t {PLACE}/login:v1 --push").stderr
    assert "not logged in" in shell(f"opm logout {PLACE}").stderr


def test_images_that_are_no_catalog_and_no_bundle(locked: Registry, tmp_path: Path) -> None:
    shell = user(tmp_path / "user", locked)
    printed(shell(f"opm login {PLACE} -u user --password-stdin < password"))
    from e2e.harness.images import build_image

    locked.push(build_image([{"a": b""}], labels={"x": "y"}), "other", tag="v1")
    refused = shell(f"opm render {PLACE}/other:v1").stderr
    assert "the kind of image cannot be told from its labels\n  x=y" in refused
    label = {"operators.operatorframework.io.index.configs.v1": "/none"}
    locked.push(build_image([{"a": b""}], labels=label), "other", tag="v2")
    assert 'the image has no "/none"' in shell(f"opm render {PLACE}/other:v2").stderr
    assert "not found" in shell(f"opm render {PLACE}/other:v3").stderr
    printed(shell(f"opm build bundle -t {PLACE}/bundle:v1 --push"))
    assert "a catalog is needed" in shell(f"opm alpha list packages {PLACE}/bundle:v1").stderr
