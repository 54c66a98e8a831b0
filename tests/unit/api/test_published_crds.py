"""Definitions of OLM Classic and OpenShift: what is published of a kind, and whole schemas."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from api.crd import REFERENCES, with_structs
from api.openshift import crds as openshift
from api.openshift.config.v1.clusterversion_spec import Capability, CapabilitySet
from api.operators import crds as operators
from api.operators.names import GROUP
from cluster_version.payload.capabilities import SETS
from config.kubernetes_schemas import QUANTITY, Structs
from tests.cases.crd.loader import load_cases
from tests.unit.api.test_crd_cases import schemas_in

OF_CLUSTER_VERSION = openshift.cluster_version_definitions()
REFERRING = operators.definitions() | openshift.definitions() | OF_CLUSTER_VERSION
DEFINITIONS: dict[str, dict[str, Any]] = with_structs(REFERRING, Structs())
BY_PLURAL = {each["spec"]["names"]["plural"]: each["spec"] for each in DEFINITIONS.values()}

PUBLISHED = {
    "clusterserviceversions": ("Namespaced", ["csv", "csvs"], ["v1alpha1"]),
    "subscriptions": ("Namespaced", ["sub", "subs"], ["v1alpha1"]),
    "installplans": ("Namespaced", ["ip"], ["v1alpha1"]),
    "catalogsources": ("Namespaced", ["catsrc"], ["v1alpha1"]),
    "operatorgroups": ("Namespaced", ["og"], ["v1", "v1alpha2"]),
    "operatorconditions": ("Namespaced", ["condition"], ["v2", "v1"]),
    "olmconfigs": ("Cluster", [], ["v1"]),
    "operators": ("Cluster", [], ["v1"]),
    "operatorhubs": ("Cluster", [], ["v1"]),
    "clusterversions": ("Cluster", [], ["v1"]),
    "clusteroperators": ("Cluster", ["co"], ["v1"]),
    "machineconfigpools": ("Cluster", ["mcp"], ["v1"]),
}
"""Scope, short names, and versions with the stored one first."""

COLUMNS = {
    "clusterserviceversions": {
        "Display": ".spec.displayName",
        "Version": ".spec.version",
        "Release": ".spec.release",
        "Replaces": ".spec.replaces",
        "Phase": ".status.phase",
    },
    "subscriptions": {
        "Package": ".spec.name",
        "Source": ".spec.source",
        "Channel": ".spec.channel",
    },
    "installplans": {
        "CSV": ".spec.clusterServiceVersionNames[0]",
        "Approval": ".spec.approval",
        "Approved": ".spec.approved",
    },
    "catalogsources": {
        "Display": ".spec.displayName",
        "Type": ".spec.sourceType",
        "Publisher": ".spec.publisher",
        "Age": ".metadata.creationTimestamp",
    },
    "clusterversions": {
        "Version": '.status.history[?(@.state=="Completed")].version',
        "Available": '.status.conditions[?(@.type=="Available")].status',
        "Progressing": '.status.conditions[?(@.type=="Progressing")].status',
        "Since": '.status.conditions[?(@.type=="Progressing")].lastTransitionTime',
        "Status": '.status.conditions[?(@.type=="Progressing")].message',
    },
    "clusteroperators": {
        "Version": '.status.versions[?(@.name=="operator")].version',
        "Available": '.status.conditions[?(@.type=="Available")].status',
        "Progressing": '.status.conditions[?(@.type=="Progressing")].status',
        "Degraded": '.status.conditions[?(@.type=="Degraded")].status',
        "Since": '.status.conditions[?(@.type=="Available")].lastTransitionTime',
    },
    "machineconfigpools": {
        "Config": ".status.configuration.name",
        "Updated": '.status.conditions[?(@.type=="Updated")].status',
        "Updating": '.status.conditions[?(@.type=="Updating")].status',
        "Degraded": '.status.conditions[?(@.type=="Degraded")].status',
        "MachineCount": ".status.machineCount",
        "ReadyMachineCount": ".status.readyMachineCount",
        "UpdatedMachineCount": ".status.updatedMachineCount",
        "DegradedMachineCount": ".status.degradedMachineCount",
        "Age": ".metadata.creationTimestamp",
    },
}


@pytest.mark.parametrize("plural", BY_PLURAL)
def test_names_and_versions_are_the_published_ones(plural: str) -> None:
    spec = BY_PLURAL[plural]
    scope, short_names, versions = PUBLISHED[plural]
    assert spec["scope"] == scope
    assert spec["names"].get("shortNames", []) == short_names
    assert [each["name"] for each in spec["versions"]] == versions
    assert [each["storage"] for each in spec["versions"]] == [True, *([False] * len(versions[1:]))]
    assert all(each["served"] for each in spec["versions"])
    assert all(each["subresources"] == {"status": {}} for each in spec["versions"])


def test_kinds_of_the_group_are_in_a_category() -> None:
    for spec in BY_PLURAL.values():
        of_olm = spec["group"] == GROUP
        assert spec["names"].get("categories") == (["olm"] if of_olm else None)


@pytest.mark.parametrize("plural", BY_PLURAL)
def test_columns_are_the_published_ones(plural: str) -> None:
    for version in BY_PLURAL[plural]["versions"]:
        columns = version.get("additionalPrinterColumns", [])
        assert {each["name"]: each["jsonPath"] for each in columns} == COLUMNS.get(plural, {})


def test_kinds_of_two_versions_convert_by_name_alone() -> None:
    converted = {plural for plural, spec in BY_PLURAL.items() if "conversion" in spec}
    assert converted == {"operatorgroups", "operatorconditions"}
    assert BY_PLURAL["operatorgroups"]["conversion"] == {"strategy": "None"}


def test_no_reference_is_left() -> None:
    assert REFERENCES in json.dumps(REFERRING)
    assert "$ref" not in json.dumps(DEFINITIONS)


def test_every_schema_has_a_type() -> None:
    """A schema is structural: it says what it holds, or that it holds anything."""
    untyped = [
        f"{plural} {path}"
        for plural, spec in BY_PLURAL.items()
        for version in spec["versions"]
        for path, schema in schemas_in(version["schema"]["openAPIV3Schema"])
        if "type" not in schema
        and "x-kubernetes-int-or-string" not in schema
        and "x-kubernetes-preserve-unknown-fields" not in schema
    ]
    assert untyped == []


def own_schemas() -> Iterator[Any]:
    for definition in REFERRING.values():
        for version in definition["spec"]["versions"]:
            for path, schema in schemas_in(version["schema"]["openAPIV3Schema"]):
                if path != "metadata" and not path.endswith("[]"):
                    name = f"{definition['spec']['names']['plural']} {version['name']}: {path}"
                    yield pytest.param(schema, id=name)


@pytest.mark.parametrize("schema", list(own_schemas()))
def test_every_field_is_explained(schema: dict[str, Any]) -> None:
    assert schema["description"].endswith(".")


def test_what_a_struct_says_in_a_place_stays() -> None:
    schema = {"$ref": f"{REFERENCES}quantity", "description": "Memory."}
    assert with_structs(schema, Structs()) == QUANTITY | {"description": "Memory."}


def test_a_struct_that_is_not_known_is_a_programming_error() -> None:
    with pytest.raises(KeyError, match="Nothing"):
        with_structs({"$ref": f"{REFERENCES}Nothing"}, Structs())


def test_presence_and_types_of_a_struct() -> None:
    schema = Structs()["EnvVar"]
    assert schema["required"] == ["name"]
    assert schema["properties"]["name"] == {"type": "string"}
    port = Structs()["HTTPGetAction"]["properties"]["port"]
    assert port["x-kubernetes-int-or-string"] is True
    assert Structs()["ContainerRestartRule"]["required"] == ["action"]
    assert Structs()["Volume"]["required"] == ["name"]
    assert "required" not in Structs()["APIResourceReference"]


def shape(schema: dict[str, Any]) -> Any:
    """The fields of a schema, their types and presence; without what is said of them."""
    if "properties" in schema:
        fields = {key: shape(part) for key, part in schema["properties"].items()}
        return fields, set(schema.get("required", ()))
    if "items" in schema:
        return [shape(schema["items"])]
    return schema.get("type"), schema.get("additionalProperties")


def test_versions_have_the_fields_that_bundles_are_read_with() -> None:
    """Of two sources: the models, and the types of `olm_content`."""
    [version] = BY_PLURAL["clusterserviceversions"]["versions"]
    fields, _ = shape(version["schema"]["openAPIV3Schema"])
    of_types, _ = shape(Structs()["ClusterServiceVersion"])
    assert fields["spec"] == of_types["spec"]
    assert fields["status"] == of_types["status"]


def test_subscriptions_configure_what_bundles_can_be_configured_with() -> None:
    [version] = BY_PLURAL["subscriptions"]["versions"]
    fields, _ = shape(version["schema"]["openAPIV3Schema"])
    spec, _ = fields["spec"]
    config, _ = spec["config"]
    of_types, _ = shape(Structs()["DeploymentConfig"])
    assert config == of_types | {"selector": shape(Structs()["LabelSelector"])}


@pytest.mark.parametrize("plural", BY_PLURAL)
def test_every_rule_has_a_refused_case(plural: str) -> None:
    own = {each["spec"]["names"]["plural"] for each in OF_CLUSTER_VERSION.values()}
    folder = "cluster-version" if plural in own else "classic"
    rules = {
        rule["message"]
        for version in BY_PLURAL[plural]["versions"]
        for _, schema in schemas_in(version["schema"]["openAPIV3Schema"])
        for rule in schema.get("x-kubernetes-validations", ())
    }
    refused = {
        message
        for case in load_cases(f"{folder}/{plural}")
        for complaint in case.refused
        for message in complaint.values()
    }
    assert rules - refused == set()


def test_optional_parts_are_those_that_the_operator_knows() -> None:
    assert {*Capability} == {*SETS["vCurrent"]}
    assert {*CapabilitySet} == {*SETS}
