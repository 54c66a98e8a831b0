"""OperatorGroups, ClusterServiceVersions and namespaces in memory, in any order of looks.

What decides is the product's; each look sees everything and makes at most one write, as the work
queues and the lock of the real controllers have it.
"""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from api.objects import KubeObject, annotations_of, is_deleting, labels_of, namespace_of
from api.operators.v1.operatorgroup import OperatorGroup
from olm_classic.csv.membership import (
    CONFLICTS,
    Mark,
    Member,
    Provide,
    Refuse,
    Verdict,
    examine,
    owned_apis,
    pruned,
    selected_namespaces,
    surface_of,
)
from olm_classic.operator_groups.intersection import GroupSurface
from olm_classic.operator_groups.selection import LABEL_GROUP_PREFIX, label_changes, selected
from olm_classic.operator_groups.status import Found, status_of
from olm_classic.operator_groups.targets import intersect
from olm_classic.provided_apis import provided_apis
from tests.property.scale import cases

pytestmark = pytest.mark.property

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROVIDED = "olm.providedAPIs"
NAMES = ("a", "b", "c")
NAMESPACES = st.sampled_from(NAMES)
GROUPS = st.tuples(NAMESPACES, st.sampled_from(["one", "two"]))
CSVS = st.tuples(NAMESPACES, st.sampled_from(["x", "y"]))
APIS = st.sets(st.sampled_from(["Pod", "Queue"]), max_size=2)
LABELS = st.sampled_from([{}, {"team": "red"}, {"team": "blue"}])
SPECS: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.sets(NAMESPACES, min_size=1).map(lambda names: {"targetNamespaces": sorted(names)}),
    st.sampled_from(["red", "blue"]).map(lambda t: {"selector": {"matchLabels": {"team": t}}}),
)
MODES = ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
ENOUGH = 20
"""Looks at everything after which nothing more is written."""

Key = tuple[str, str]


class Cluster(RuleBasedStateMachine):
    """Namespaces, groups and operators come, change and go."""

    def __init__(self) -> None:
        super().__init__()
        self.namespaces: dict[str, KubeObject] = {}
        self.groups: dict[Key, KubeObject] = {}
        self.csvs: dict[Key, KubeObject] = {}
        self.uids = itertools.count(1)
        self.writes = 0
        """By controllers and by users."""

    def meta(self, namespace: str, name: str) -> dict[str, Any]:
        """Of a new object."""
        return {"namespace": namespace, "name": name, "uid": f"u{next(self.uids)}"}

    # What users do.

    @initialize(specs=st.tuples(SPECS, SPECS, SPECS), apis=st.tuples(APIS, APIS, APIS))
    def begin(self, specs: tuple[dict[str, Any], ...], apis: tuple[set[str], ...]) -> None:
        for name, spec, provided in zip(NAMES, specs, apis, strict=True):
            self.namespaces[name] = {"metadata": {"name": name, "labels": {}}}
            self.make_group((name, "one"), spec)
            self.make_csv((name, "x"), provided)

    @rule(name=NAMESPACES, labels=LABELS)
    def make_or_label_namespace(self, name: str, labels: dict[str, str]) -> None:
        labelled = labels_of(self.namespaces.get(name, {}))
        ours = {k: v for k, v in labelled.items() if k.startswith(LABEL_GROUP_PREFIX)}
        self.namespaces[name] = {"metadata": {"name": name, "labels": {**ours, **labels}}}

    @rule(name=NAMESPACES)
    def delete_namespace(self, name: str) -> None:
        self.namespaces.pop(name, None)
        for objects in (self.groups, self.csvs):
            for key in [key for key in objects if key[0] == name]:
                del objects[key]

    @rule(key=GROUPS, spec=SPECS)
    def make_group(self, key: Key, spec: dict[str, Any]) -> None:
        if key[0] in self.namespaces and key not in self.groups:
            raw = {"apiVersion": "operators.coreos.com/v1", "kind": "OperatorGroup"}
            self.groups[key] = {**raw, "metadata": self.meta(*key), "spec": dict(spec)}

    @rule(key=GROUPS, spec=SPECS, static=st.booleans())
    def change_group(self, key: Key, spec: dict[str, Any], static: bool) -> None:
        if key in self.groups:
            self.groups[key]["spec"] = {**spec, "staticProvidedAPIs": static}

    @rule(key=GROUPS, apis=APIS)
    def write_annotation(self, key: Key, apis: set[str]) -> None:
        if key in self.groups:
            self.annotate(key, ",".join(f"{api}.v1.example.com" for api in sorted(apis)))

    @rule(key=GROUPS)
    def delete_group(self, key: Key) -> None:
        self.groups.pop(key, None)

    @rule(key=CSVS, apis=APIS)
    def make_csv(self, key: Key, apis: set[str]) -> None:
        if key[0] in self.namespaces and key not in self.csvs:
            owned = [{"name": f"{a}.example.com", "version": "v1", "kind": a} for a in sorted(apis)]
            self.csvs[key] = {
                "metadata": {**self.meta(*key), "annotations": {}, "labels": {}},
                "spec": {
                    "customresourcedefinitions": {"owned": owned},
                    "installModes": [{"type": mode, "supported": True} for mode in MODES],
                },
                "status": {},
            }

    @rule(key=CSVS)
    def begin_to_delete_csv(self, key: Key) -> None:
        if key in self.csvs:
            self.csvs[key]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    @rule(key=CSVS)
    def delete_csv(self, key: Key) -> None:
        self.csvs.pop(key, None)

    # What the controllers do.

    @rule(key=GROUPS)
    def look_at_group(self, key: Key) -> None:
        raw = self.groups.get(key)
        if raw is None:
            return
        annotation = annotations_of(raw).get(PROVIDED, "")
        members = [csv for csv in self.csvs_of(key[0]) if not is_deleting(csv)]
        left = pruned(annotation, members) if not raw["spec"].get("staticProvidedAPIs") else None
        if left is not None and provided_apis(left) != provided_apis(annotation):
            self.annotate(key, left)
            return
        group = OperatorGroup.from_object(raw)
        found = Found(namespaces=selected(group.spec, self.namespaces.values()))
        status = status_of(group, found, NOW)
        self.writes += status != raw.get("status")
        raw["status"] = status

    @rule(key=CSVS)
    def look_at_csv(self, key: Key) -> None:
        csv = self.csvs.get(key)
        if csv is None or is_deleting(csv):
            return
        match self.verdict(csv):
            case Mark(labels=labels, annotations=annotations):
                meta = csv["metadata"]
                meta["labels"] = {**meta["labels"], **(labels or {})}
                merged = {**meta["annotations"], **(annotations or {})}
                meta["annotations"] = {k: v for k, v in merged.items() if v is not None}
                self.writes += 1
            case Provide(group=group, annotation=annotation):
                self.annotate((key[0], group), annotation)
            case Refuse(change=change):
                self.enter(csv, change.phase, change.reason)
            case Member() if csv["status"].get("phase") in (None, "Failed"):
                self.enter(csv, "Pending", "RequirementsUnknown")
            case Member():
                self.enter(csv, "Succeeded", "InstallSucceeded")

    @rule(name=NAMESPACES)
    def look_at_namespace(self, name: str) -> None:
        namespace = self.namespaces.get(name)
        if namespace is None:
            return
        changes = label_changes(namespace, self.uids_selecting(name))
        labels = {**labels_of(namespace), **changes}
        remaining = {key: value for key, value in labels.items() if value is not None}
        namespace["metadata"]["labels"] = remaining
        self.writes += bool(changes)

    def verdict(self, csv: KubeObject) -> Verdict:
        groups = [group for (where, _), group in self.groups.items() if where == namespace_of(csv)]
        return examine(csv, groups, self.groups.values())

    def annotate(self, key: Key, annotation: str) -> None:
        self.groups[key]["metadata"]["annotations"] = {PROVIDED: annotation}
        self.writes += 1

    def enter(self, csv: KubeObject, phase: str, reason: str) -> None:
        status = {"phase": str(phase), "reason": str(reason)}
        self.writes += csv["status"] != status
        csv["status"] = status

    def csvs_of(self, namespace: str) -> list[KubeObject]:
        return [csv for (where, _), csv in self.csvs.items() if where == namespace]

    def uids_selecting(self, name: str) -> list[str]:
        return [
            group["metadata"]["uid"]
            for group in self.groups.values()
            if name in (selected_namespaces(group) or ())
        ]

    # What holds.

    @invariant()
    def no_two_active_members_own_an_api_in_a_namespace(self) -> None:
        active = list(self.active())
        for (one, apis), (other, theirs) in itertools.combinations(active, 2):
            if one is not other and intersect(one.targets, other.targets):
                assert apis.isdisjoint(theirs)

    def active(self) -> Iterable[tuple[GroupSurface, frozenset[Any]]]:
        """Those that the next look would let go on, with the surface of their group."""
        surfaces = {key: surface_of(group) for key, group in self.groups.items()}
        for csv in self.csvs.values():
            verdict = self.verdict(csv)
            if isinstance(verdict, Member):
                key = (namespace_of(csv), verdict.group["metadata"]["name"])
                yield surfaces[key], owned_apis(csv) or frozenset()

    def teardown(self) -> None:
        """Users leave it alone: it comes to rest, and then everything is as it is to be."""
        for key in [key for key, csv in self.csvs.items() if is_deleting(csv)]:
            del self.csvs[key]
        for _ in range(ENOUGH):
            before = self.writes
            self.look_at_everything()
            if self.writes == before:
                break
        else:
            pytest.fail("it never comes to rest")
        self.no_two_active_members_own_an_api_in_a_namespace()
        for name, namespace in self.namespaces.items():
            wanted = {f"{LABEL_GROUP_PREFIX}{uid}" for uid in self.uids_selecting(name)}
            assert {k for k in labels_of(namespace) if k.startswith(LABEL_GROUP_PREFIX)} == wanted
        for key, group in self.groups.items():
            self.provides_what_its_members_do(key, group)

    @rule()
    def look_at_everything(self) -> None:
        """In this order; the others are those of single looks."""
        for key in list(self.csvs):
            self.look_at_csv(key)
        for key in list(self.groups):
            self.look_at_group(key)
        for name in self.namespaces:
            self.look_at_namespace(name)

    def provides_what_its_members_do(self, key: Key, group: KubeObject) -> None:
        alone = sum(where == key[0] for where, _ in self.groups) == 1
        surface = surface_of(group)
        if not alone or surface.static or not selected_namespaces(group):
            return
        provided: set[Any] = set()
        for csv in self.csvs_of(key[0]):
            if csv["status"]["reason"] in CONFLICTS:
                others = [surface_of(each) for each in self.groups.values() if each is not group]
                apis = owned_apis(csv) or frozenset()
                assert any(
                    intersect(surface.targets, other.targets) and apis & other.apis
                    for other in others
                ), "somebody else has what it was refused"
            else:
                assert csv["status"]["phase"] == "Succeeded"
                provided |= owned_apis(csv) or frozenset()
        assert surface.apis == provided


Cluster.TestCase.settings = settings(max_examples=cases(100), stateful_step_count=40, deadline=None)
TestCluster = Cluster.TestCase
