"""What is known of the Secrets of the system namespace, before and after they were listed."""

from api.objects import KubeObject
from api.olm.v1 import names
from operator_controller.io.system_secrets import SystemSecrets

SYSTEM = "olmv1-system"


def secret(name: str, /, **labels: str) -> KubeObject:
    meta = {"name": name, "namespace": SYSTEM, "uid": name, "resourceVersion": "5"}
    return {"metadata": {**meta, "labels": labels}}


def content_of(extension: str, name: str) -> KubeObject:
    return secret(name, **{names.LABEL_OWNER_NAME: extension, names.LABEL_REVISION_NAME: name})


def test_before_they_are_listed_nothing_is_known_to_be_missing() -> None:
    secrets = SystemSecrets()
    secrets.contents.update(content_of("app", "app-1"))
    assert secrets.contents_of("app") is None
    assert secrets.may_have_release("app")


def test_those_of_an_extension_are_found_once_they_are_listed() -> None:
    secrets = SystemSecrets()
    found = [content_of("app", "app-1"), content_of("app", "app-2"), content_of("web", "web-1")]
    secrets.contents.replace(found, "9")
    secrets.releases.replace([secret("sh.helm.release.v1.old.v1", name="old")], "9")
    assert secrets.contents_of("app") == found[:2]
    assert secrets.contents_of("none") == []
    assert secrets.content(SYSTEM, "web-1") == found[2]
    assert secrets.content("elsewhere", "web-1") is None
    assert secrets.may_have_release("old")
    assert not secrets.may_have_release("app")
