"""Stored objects under a new definition: what we say is what the API server would do."""

import asyncio
import copy
import json
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from api.objects import GVK, KubeObject, name_of
from e2e.harness.controlplane import ControlPlane
from e2e.harness.pytest_plugin import fresh_namespace
from e2e.harness.registry import Registry
from e2e.olm.bundles import BundleSpec
from olm_cli.crd import crd as crd_command
from olm_content.crds import check
from olm_content.crds.stored import TRIAL_GROUP, TRIAL_PLURAL, Examined, Question
from olm_rollout.io.definitions import DEFINITION, unsafe_definitions
from olm_rollout.io.stored_objects import Bounds, examine
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import InvalidError, NotFoundError
from tests.property.test_crd_stored_objects import changed, schemas, values

pytestmark = pytest.mark.integration

Schema = dict[str, Any]

MANAGER = "test"
AMPLE = Bounds(objects=1000, seconds=60)


def definition(group: str, spec: Schema) -> KubeObject:
    names = {"plural": "samples", "singular": "sample", "kind": "Sample", "listKind": "SampleList"}
    schema = {"type": "object", "properties": {"spec": spec}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": DEFINITION.api_version,
        "kind": DEFINITION.kind,
        "metadata": {"name": f"samples.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


def sample(group: str, namespace: str, name: str, spec: Any) -> KubeObject:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": f"{group}/v1", "kind": "Sample", "metadata": metadata, "spec": spec}


@asynccontextmanager
async def served(client: KubeClient, crd: KubeObject) -> AsyncIterator[GVK]:
    """The definition in the cluster, and its kind once the server answers for it."""
    kind = GVK(crd["spec"]["group"], "v1", "Sample")
    await client.create(crd, field_manager=MANAGER)
    try:
        for _ in range(500):
            try:
                await client.list_all(kind)
                break
            except NotFoundError:
                await asyncio.sleep(0.02)
        yield kind
    finally:
        await client.delete(crd)


@pytest.fixture(scope="module")
def namespace(control_plane: ControlPlane) -> str:
    """One for all tests."""
    return fresh_namespace(control_plane)


@pytest.fixture(scope="module")
def kind(control_plane: ControlPlane, namespace: str) -> Iterator[GVK]:
    """A kind with 240 objects: `count` is 0 to 6, every other has the same word twice."""
    group = f"{namespace}.example.com"
    crd = json.dumps(definition(group, SPEC))
    control_plane.apply(crd)
    objects = []
    for number in range(240):
        words = ["a", "b"] if number % 2 else ["a", "a"]
        spec = {"count": number % 7, "words": words, "token": "hidden"}
        objects.append(sample(group, namespace, f"s{number:03}", spec))
    control_plane.apply(yaml.safe_dump_all(objects))
    yield GVK(group, "v1", "Sample")
    control_plane.delete(crd)


SPEC: Schema = {
    "type": "object",
    "properties": {
        "count": {"type": "integer"},
        "words": {"type": "array", "maxItems": 100, "items": {"type": "string", "maxLength": 100}},
        "token": {"type": "string"},
    },
}


def with_change(change: Callable[[Schema], Any]) -> Schema:
    spec = copy.deepcopy(SPEC)
    change(spec)
    return spec


NO_THREE = [{"rule": "self.count != 3"}]
COSTLY = [{"rule": "self.words.all(w, self.words.exists_one(v, v == w))"}]
"""Allowed by itself, but not in a list of a hundred."""

CHANGES: dict[str, tuple[Callable[[Schema], Any], str]] = {
    "a bound": (
        lambda spec: spec["properties"]["count"].update(maximum=5),
        "34 of 240 would be invalid; {ns}/s006: spec.count: invalid value",
    ),
    "another type": (
        lambda spec: spec["properties"]["count"].update(type="string"),
        "240 of 240 would be invalid; {ns}/s000: spec.count: of another type",
    ),
    "a field that nobody has": (
        lambda spec: spec.update(required=["more"]),
        "240 of 240 would be invalid; {ns}/s000: spec.more: required and missing",
    ),
    "a field that everybody has": (
        lambda spec: spec.update(required=["count"]),
        "0 of 240 would be invalid",
    ),
    "a field removed": (
        lambda spec: spec["properties"].pop("token"),
        "0 of 240 would be invalid; 240 would lose fields; {ns}/s000: spec.token: would be lost",
    ),
    "a set": (
        lambda spec: spec["properties"]["words"].update({"x-kubernetes-list-type": "set"}),
        "120 of 240 would be invalid; {ns}/s000: spec.words: duplicate value",
    ),
    "a rule": (
        lambda spec: spec.update({"x-kubernetes-validations": NO_THREE}),
        "34 of 240 would be invalid; {ns}/s003: spec: invalid value",
    ),
    "a costly rule": (
        lambda spec: spec.update({"x-kubernetes-validations": COSTLY}),
        "120 of 240 would be invalid; {ns}/s000: spec: invalid value",
    ),
}


@pytest.mark.parametrize(("change", "answer"), CHANGES.values(), ids=CHANGES)
async def test_the_condition_counts_what_would_be_invalid(
    client: KubeClient,
    kind: GVK,
    namespace: str,
    change: Callable[[Schema], Any],
    answer: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What costs too much for a list is asked one by one, for which a slow machine takes longer.
    monkeypatch.setattr(f"{unsafe_definitions.__module__}.STORED_BOUNDS", AMPLE)
    text = await unsafe_definitions(client, [definition(kind.group, with_change(change))])
    assert text is not None
    *findings, stored = text.splitlines()
    assert findings
    about = f"stored objects of samples.{kind.group} as v1: "
    assert stored.startswith(about + answer.format(ns=namespace))
    assert "hidden" not in stored


async def test_nothing_in_the_cluster_changes(client: KubeClient, kind: GVK) -> None:
    async def world() -> list[tuple[str, str]]:
        own = await client.get(DEFINITION, f"samples.{kind.group}")
        found = [own, *(await client.list_all(kind))[0]]
        return [(name_of(obj), obj["metadata"]["resourceVersion"]) for obj in found]

    before = await world()
    new = definition(kind.group, with_change(lambda spec: spec["properties"].clear()))
    assert await unsafe_definitions(client, [new])
    assert await world() == before
    assert await client.find(DEFINITION, f"{TRIAL_PLURAL}.{TRIAL_GROUP}") is None


def question(kind: GVK, spec: Schema) -> Question:
    schema = {"type": "object", "properties": {"spec": spec}}
    return Question(f"samples.{kind.group}", kind, "v1", schema)


async def test_it_looks_no_further_than_it_may(client: KubeClient, kind: GVK) -> None:
    asked = question(kind, with_change(lambda spec: spec["properties"]["count"].update(maximum=5)))
    (found,) = await examine(client, [asked], Bounds(objects=150, seconds=60))
    assert (found.checked, found.total, found.invalid) == (200, 240, 28)
    assert "at least 28 of 240 would be invalid (200 checked); stopped after 150 obj" in found.line
    (found,) = await examine(client, [asked], Bounds(objects=150, seconds=0))
    assert found.line.endswith("as v1: not looked at: stopped after 0 s")
    (found,) = await examine(client, [asked], Bounds(objects=240, seconds=60))
    assert (found.checked, found.stopped) == (240, "")


async def test_an_account_that_may_not_read_is_reported(
    client: KubeClient, kind: GVK, namespace: str
) -> None:
    acting = client.as_service_account(namespace, "nobody")
    asked = question(kind, with_change(lambda spec: spec["properties"]["count"].update(maximum=5)))
    (found,) = await examine(acting, [asked], AMPLE)
    assert "not looked at: samples." in found.line
    assert f'User "system:serviceaccount:{namespace}:nobody" cannot list' in found.line


async def test_a_schema_that_the_server_refuses_is_reported(client: KubeClient, kind: GVK) -> None:
    asked = question(kind, with_change(lambda spec: spec["properties"]["count"].pop("type")))
    (found,) = await examine(client, [asked], AMPLE)
    assert "not looked at: CustomResourceDefinition" in found.line
    assert "type: Required value" in found.line


@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(st.data())
def test_the_server_would_refuse_exactly_those(
    control_plane: ControlPlane, namespace: str, data: st.DataObject
) -> None:
    """Of random schemas and objects; and what the check calls safe makes none invalid."""
    old = without_unique_items(data.draw(schemas(2), label="old"))
    new = without_unique_items(data.draw(changed(old), label="new"))
    specs = data.draw(st.lists(values(old), min_size=12, max_size=12), label="objects")
    found, refused = asyncio.run(both_judgements(control_plane, namespace, old, new, specs))
    assert found.stopped == ""
    assert found.invalid == refused, found.line
    if not check(definition("example.com", old), definition("example.com", new)):
        assert refused == 0


async def both_judgements(
    control_plane: ControlPlane, namespace: str, old: Schema, new: Schema, specs: list[Any]
) -> tuple[Examined, int]:
    """What we say of the objects that can be stored under `old`, and how many `new` refuses."""
    groups = [f"g{secrets.token_hex(4)}.example.com" for _ in range(2)]
    async with KubeClient.connect(load_access(str(control_plane.kubeconfig))) as client:
        try:
            async with (
                served(client, definition(groups[0], old)) as kind,
                served(client, definition(groups[1], new)),
            ):
                for number, spec in enumerate(specs):
                    obj = sample(groups[0], namespace, f"s{number}", spec)
                    await accepted(client, obj, dry_run=False)
                (found,) = await examine(client, [question(kind, new)], AMPLE)
                stored, _ = await client.list_all(kind)
                moved = [
                    sample(groups[1], namespace, name_of(obj), obj.get("spec", MISSING))
                    for obj in stored
                ]
                for obj in moved:
                    if obj["spec"] is MISSING:
                        del obj["spec"]
                verdicts = [await accepted(client, obj, dry_run=True) for obj in moved]
                return found, verdicts.count(False)
        except InvalidError:  # no structural schema
            assume(False)
            raise


MISSING = object()


async def accepted(client: KubeClient, obj: KubeObject, *, dry_run: bool) -> bool:
    try:
        await client.create(obj, field_manager=MANAGER, dry_run=dry_run)
    except InvalidError:
        return False
    return True


def without_unique_items(schema: Any) -> Any:
    """API servers refuse it in definitions."""
    if isinstance(schema, dict):
        return {k: without_unique_items(v) for k, v in schema.items() if k != "uniqueItems"}
    return schema


# olm crd check


def run(*arguments: str) -> Any:
    return CliRunner().invoke(crd_command, ["check", *arguments])


async def test_on_the_command_line(
    control_plane: ControlPlane, kind: GVK, namespace: str, tmp_path: Path
) -> None:
    change, answer = CHANGES["a bound"]
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    old.write_text(yaml.safe_dump(definition(kind.group, SPEC)))
    new.write_text(yaml.safe_dump(definition(kind.group, with_change(change))))
    cluster = ["--against-cluster", "--kubeconfig", str(control_plane.kubeconfig)]
    for sources in ([str(new)], [str(old), str(new)]):
        result = await asyncio.to_thread(run, *sources, *cluster)
        assert result.exit_code == 1
        assert answer.format(ns=namespace) in result.output
        assert f"  {namespace}/s006: spec.count: Invalid value: 6" in result.output
    result = await asyncio.to_thread(run, str(old), *cluster, "-o", "json")
    assert (result.exit_code, json.loads(result.output)["storedObjects"]) == (0, [])
    result = await asyncio.to_thread(run, str(new), *cluster, "-o", "json", "--max-objects", "100")
    (stored,) = json.loads(result.output)["storedObjects"]
    assert (stored["checked"], stored["total"], stored["invalid"]) == (100, 240, 14)
    assert stored["examples"][0]["name"] == f"{namespace}/s006"
    assert stored["stopped"] == "stopped after 100 objects"


async def test_a_definition_that_goes_is_counted_on_the_command_line(
    control_plane: ControlPlane, kind: GVK, namespace: str, tmp_path: Path
) -> None:
    old, new = tmp_path / "old.yaml", tmp_path / "new.yaml"
    shared = definition("shared.example.com", SPEC)
    old.write_text(yaml.safe_dump_all([definition(kind.group, SPEC), shared]))
    new.write_text(yaml.safe_dump(shared))
    result = await asyncio.to_thread(run, str(old), str(new))
    assert result.exit_code == 0
    assert f"samples.{kind.group}: not in NEW; an update removes it, unless" in result.output
    cluster = ["--against-cluster", "--kubeconfig", str(control_plane.kubeconfig)]
    result = await asyncio.to_thread(run, str(old), str(new), *cluster)
    assert result.exit_code == 1
    shown = ", ".join(f"{namespace}/s{number:03}" for number in range(3))
    assert f"240 objects would be deleted with it: {shown} and 237 more" in result.output


def test_images_of_bundles_are_compared(registry: Registry, package: str) -> None:
    images = [
        BundleSpec(package=package, version=version, crd_group=f"{package}.example.com")
        .publish(registry)
        .image
        for version in ("1.0.0", "1.1.0")
    ]
    access = ["--plain-http"]
    if registry.ca_file is not None:
        access = ["--cas-dir", str(registry.ca_file.parent)]
    result = run(*images, *access)
    assert (result.exit_code, result.output) == (0, "1 compared, 0 unsafe\n")
