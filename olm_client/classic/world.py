"""What a namespace of OLM Classic has and asks: from a cluster, or from files. Writes nothing."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from api.objects import KubeObject, gvk_of, name_of, namespace_of
from api.operators.names import GROUP
from olm_classic.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    OPERATOR_GROUP,
    SUBSCRIPTION,
)
from olm_classic.resolve import Catalog, Namespace, SourceKey
from olm_client.classic.catalogs import Given, given_catalog, read_catalog, try_catalog
from olm_client.object_files import objects_in, read_file
from olm_client.reach import Reach
from olm_client.usage import UsageError
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import TerminalError

KINDS = (SUBSCRIPTION, CLUSTER_SERVICE_VERSION, OPERATOR_GROUP, CATALOG_SOURCE)


def read_world(options: Mapping[str, Any]) -> Namespace:
    """The namespace that the options mean. Raises OLMError, UsageError."""
    if options["files"]:
        objects = [each for path in options["files"] for each in _objects(path)]
        name = options["namespace"] or _only_namespace(objects)
    else:
        name = options["namespace"]
        if not name:
            raise UsageError("give --namespace, or --files")
        objects = run_async(_from_cluster(name, options["global_namespace"], options["reach"]))
    return _namespace(name, objects, options)


def _objects(path: Path) -> list[KubeObject]:
    files = [path]
    if path.is_dir():
        files = sorted(
            each for each in path.rglob("*") if each.suffix in {".yaml", ".yml", ".json"}
        )
    found = [each for file in files for each in objects_in(str(file), read_file(file))]
    return [each for each in found if str(each.get("apiVersion", "")).startswith(f"{GROUP}/")]


def _only_namespace(objects: Iterable[KubeObject]) -> str:
    names = {namespace_of(each) for each in objects if gvk_of(each).kind == SUBSCRIPTION.kind}
    if len(names) != 1 or not all(names):
        said = ", ".join(sorted(filter(None, names))) or "none"
        raise UsageError(f"give --namespace: the Subscriptions in --files name {said}")
    return names.pop()


async def _from_cluster(name: str, global_namespace: str, reach: Reach) -> list[KubeObject]:
    from olm_runtime.kube.client import KubeClient

    found: list[KubeObject] = []
    async with KubeClient.briefly(reach.access()) as kube:
        for kind in KINDS:
            spaces = {name, global_namespace} if kind == CATALOG_SOURCE else {name}
            for space in sorted(spaces):
                found += (await kube.list_all(kind, space))[0]
    return found


def _namespace(name: str, objects: Iterable[KubeObject], options: Mapping[str, Any]) -> Namespace:
    of_kind: dict[str, list[KubeObject]] = {kind.kind: [] for kind in KINDS}
    for each in objects:
        of_kind.get(gvk_of(each).kind, []).append(each)
    own = {
        kind: tuple(each for each in found if namespace_of(each) in {"", name})
        for kind, found in of_kind.items()
    }
    groups = own[OPERATOR_GROUP.kind]
    if options["files"] and not groups:
        # One is always there where something is installed; its targets do not count here.
        groups = ({"metadata": {"name": "", "namespace": name}, "spec": {}},)
    return Namespace(
        name,
        options["global_namespace"],
        groups,
        tuple(_checked(each) for each in own[SUBSCRIPTION.kind]),
        own[CLUSTER_SERVICE_VERSION.kind],
        tuple(_catalogs(name, of_kind[CATALOG_SOURCE.kind], options)),
    )


def _checked(subscription: KubeObject) -> KubeObject:
    if not (subscription.get("spec") or {}).get("name"):
        raise TerminalError(f"subscription {name_of(subscription)} has no spec.name")
    return subscription


def _catalogs(
    name: str, sources: Iterable[KubeObject], options: Mapping[str, Any]
) -> Iterable[Catalog]:
    """The CatalogSources, and those that only `--catalog` names."""
    space = options["global_namespace"]
    given = {each.key: each for each in (given_catalog(t, space) for t in options["catalogs"])}
    known: dict[SourceKey, Mapping[str, Any]] = {
        SourceKey(name_of(each), namespace_of(each) or name): each.get("spec") or {}
        for each in sources
    }
    for key in sorted({*given, *known}):
        spec = known.get(key, {})
        priority = int(spec.get("priority") or 0)
        if key in given:
            said = given[key]
            yield read_catalog(Given(key, said.where, said.priority or priority), options)
        elif spec.get("image"):
            yield try_catalog(Given(key, str(spec["image"]), priority), options)
        else:
            yield Catalog(
                key, priority,
                problem="it has no image to read; give its content by "
                f"--catalog {key.namespace}/{key.name}=FOLDER|IMAGE",
            )  # fmt: skip
