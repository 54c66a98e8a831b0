import json
from typing import Any

import pytest

from olm_content.bundle.files import BundleError
from olm_content.bundle.reader import load

CSV: dict[str, Any] = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "example.v1.0.0", "annotations": {"a": "b"}},
    "spec": {
        "displayName": "Example",
        "version": "1.0.0",
        "installModes": [
            {"type": "AllNamespaces", "supported": True},
            {"type": "OwnNamespace", "supported": False},
        ],
        "install": {
            "strategy": "deployment",
            "spec": {
                "deployments": [{"name": "op", "label": {"l": "m"}, "spec": {"replicas": 1}}],
                "permissions": [{"serviceAccountName": "op", "rules": [{"verbs": ["get"]}]}],
            },
        },
        "customresourcedefinitions": {"owned": [{"name": "c", "version": "v1", "kind": "C"}]},
        "webhookdefinitions": [
            {"type": "ConversionWebhook", "generateName": "w", "conversionCRDs": ["c"]}
        ],
    },
}
ANNOTATIONS = b"annotations:\n  operators.operatorframework.io.bundle.package.v1: example\n"


def files(**others: Any) -> dict[str, bytes]:
    """A small bundle; `manifests__x` becomes `manifests/x`, None leaves a file out."""
    content = {
        "metadata/annotations.yaml": ANNOTATIONS,
        "manifests/csv.yaml": json.dumps(CSV).encode(),
    }
    for name, value in others.items():
        path = name.replace("__", "/").replace("_yaml", ".yaml")
        if value is None:
            del content[path]
        else:
            content[path] = value if isinstance(value, bytes) else json.dumps(value).encode()
    return content


def test_reads_what_installing_needs() -> None:
    bundle = load(files())
    csv = bundle.csv
    assert bundle.package_name == "example"
    assert csv.name == "example.v1.0.0"
    assert csv.annotations == {"a": "b"}
    assert csv.install_modes == {"AllNamespaces"}
    assert [(d.name, d.labels, d.spec["replicas"]) for d in csv.deployments] == [
        ("op", {"l": "m"}, 1)
    ]
    assert [(p.service_account, p.rules) for p in csv.permissions] == [
        ("op", ({"verbs": ["get"]},))
    ]
    assert csv.owned_crds == ("c",)
    assert [(w.type, w.generate_name, w.conversion_crds) for w in csv.webhooks] == [
        ("ConversionWebhook", "w", ["c"])
    ]


def test_lists_are_taken_apart_and_kinds_sorted() -> None:
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}}
    crd: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
    }
    crd |= {"metadata": {"name": "c"}, "spec": {"unknown": 1}, "status": {"conditions": []}}
    listed = {"apiVersion": "v1", "kind": "List", "items": [crd]}
    typed = {"apiVersion": "v1", "kind": "SecretList", "items": [{"metadata": {"name": "s"}}]}
    bundle = load(files(manifests__a_yaml=listed, manifests__b=typed, manifests__c=config_map))
    assert [crd["metadata"]["name"] for crd in bundle.crds] == ["c"]
    assert "status" not in bundle.crds[0]
    assert "unknown" not in bundle.crds[0]["spec"]
    assert [(obj["kind"], obj["metadata"]["name"]) for obj in bundle.others] == [
        ("Secret", "s"),
        ("ConfigMap", "m"),
    ]


def test_other_manifests_are_kept_as_they_are() -> None:
    odd = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ny: 0o17\nextra: {deep: [null]}\n"
    (obj,) = load(files(manifests__x_yaml=odd)).others
    assert obj["true"] == 15
    assert obj["extra"] == {"deep": [None]}


def test_the_last_service_version_wins() -> None:
    other = {**CSV, "metadata": {"name": "later"}}
    assert load(files(manifests__z_yaml=other)).csv.name == "later"


def test_properties_are_added_to_the_annotation() -> None:
    existing = '[{"value": {"b": 1, "a": "<"}, "type": "t"}]'
    csv = {**CSV, "metadata": {"name": "n", "annotations": {"olm.properties": existing}}}
    properties = b"properties:\n- type: olm.gvk\n  value: {version: v1, group: g}\n"
    bundle = load(files(manifests__csv_yaml=csv, metadata__properties_yaml=properties))
    assert bundle.csv.annotations["olm.properties"] == (
        '[{"type":"t","value":{"b":1,"a":"\\u003c"}},'
        '{"type":"olm.gvk","value":{"group":"g","version":"v1"}}]'
    )


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"metadata__annotations_yaml": None}, "open metadata/annotations.yaml: no such file"),
        (
            {"metadata__annotations_yaml": b"[]"},
            "cannot unmarshal array into Go value of type registry",
        ),
        ({"manifests__csv_yaml": None}, "stat manifests: no such file or directory"),
        ({"manifests__csv_yaml": b""}, 'no ClusterServiceVersion found in "manifests"'),
        ({"metadata__annotations_yaml__": b""}, "read metadata/annotations.yaml: is a directory"),
        (
            {"metadata__properties_yaml__": b""},
            "failed to read properties.yaml file: read metadata/properties.yaml: is a directory",
        ),
        ({"manifests__sub__": b""}, 'the bundle image filesystem: found "manifests/sub"'),
        ({"manifests__sub__x_yaml": b""}, 'subdirectories are not allowed within the "manifests"'),
        (
            {"manifests__x_yaml": b"a: b: c"},
            (
                'error parsing objects in "manifests/x.yaml": error parsing manifests/x.yaml: '
                "error converting YAML to JSON: yaml: mapping values are not allowed in this "
                "context"
            ),
        ),
        (
            {"manifests__x_yaml": b"a: b"},
            'unable to decode "manifests/x.yaml": Object \'Kind\' is missing in \'{"a":"b"}\'',
        ),
        (
            {"manifests__x_yaml": b"- a"},
            "json: cannot unmarshal array into Go value of type unstructured.detector",
        ),
        (
            {"manifests__x_yaml": b"{kind: L, items: 1}"},
            "cannot unmarshal number into Go struct field decodeList.items",
        ),
        (
            {"manifests__x_yaml": b"{kind: L, metadata: 1}"},
            "into Go struct field metadataOnlyObject.metadata of type v1.ObjectMeta",
        ),
        (
            {"manifests__x_yaml": b"{apiVersion: a/b/c, kind: K}"},
            'Object \'Kind\' is missing in \'{"apiVersion":"a/b/c","kind":"K"}\'',
        ),
        (
            {"manifests__x_yaml": b'{"kind": "K", "apiVersion": "v1"} {"a":  1.0}'},
            "Object 'Kind' is missing in '{\"a\":  1.0}'",
        ),
        (
            {"manifests__x_yaml": b"{kind: L, metadata: 1, items: [5]}"},
            "cannot unmarshal number into Go value of type map[string]interface {}",
        ),
        (
            {"manifests__csv_yaml": {**CSV, "spec": {"displayName": 1}}},
            ('error parsing objects in "manifests/csv.yaml": cannot convert int64 to string'),
        ),
        ({"metadata__properties_yaml": b"properties: x"}, "failed to unmarshal metadata/prop"),
        (
            {"metadata__properties_yaml": b"properties: [x]"},
            "into Go struct field RegistryV1Properties.properties of type property.Property",
        ),
    ],
)
def test_a_faulty_bundle_is_refused_with_the_file_named(
    others: dict[str, Any], message: str
) -> None:
    with pytest.raises(BundleError) as error:
        load(files(**others))
    assert message in error.value.message


def test_values_of_the_annotation_are_copied_as_they_stand() -> None:
    existing = r'[{"Value": {"b": 1e3, "a": "\u00e9<"}, "type": "t"}, null]'
    csv = {**CSV, "metadata": {"name": "n", "annotations": {"olm.properties": existing}}}
    bundle = load(files(manifests__csv_yaml=csv, metadata__properties_yaml=b"properties: []"))
    assert bundle.csv.annotations["olm.properties"] == (
        r'[{"type":"t","value":{"b":1e3,"a":"\u00e9\u003c"}},{"type":"","value":null}]'
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "unexpected end of JSON input"),
        ("tru", "invalid character ' ' in literal true (expecting 'e')"),
        ("[nil]", "invalid character 'i' in literal null (expecting 'u')"),
        ("[] x", "invalid character 'x' after top-level value"),
    ],
)
def test_a_faulty_properties_annotation_is_refused(text: str, problem: str) -> None:
    csv = {**CSV, "metadata": {"name": "n", "annotations": {"olm.properties": text}}}
    with pytest.raises(BundleError) as refused:
        load(files(manifests__csv_yaml=csv))
    place = "failed to unmarshal csv.metadata.annotations['olm.properties']: "
    assert refused.value.message == place + problem


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"metadata": {"name": "x", "labels": {"version": 1.5}}},
            "number into Go struct field ObjectMeta.metadata.labels of type string",
        ),
        (
            {"metadata": {"name": "x", "annotations": {"on": True}}},
            "bool into Go struct field ObjectMeta.metadata.annotations of type string",
        ),
        (
            {"apiVersion": 1, "metadata": {"name": "x"}},
            "metadataOnlyObject.TypeMeta.apiVersion of type string",
        ),
        (
            {"metadata": {"name": "x", "creationTimestamp": 1}},
            "number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
        ),
        (
            {"metadata": {"name": 1, "generation": 2.5}},
            "number 2.5 into Go struct field ObjectMeta.metadata.generation of type int64",
        ),
        (
            {"metadata": {"name": "x", "ownerReferences": [{"uid": 5}]}},
            "field OwnerReference.metadata.ownerReferences.uid of type types.UID",
        ),
    ],
)
def test_metadata_of_any_kind_has_the_types_it_must_have(
    fields: dict[str, Any], problem: str
) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", **fields}
    with pytest.raises(BundleError, match=problem) as refused:
        load(files(manifests__x_yaml=manifest))
    assert refused.value.message.startswith('error parsing objects in "manifests/x.yaml": ')


def test_items_of_a_list_are_taken_as_they_are() -> None:
    item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"v": 1}}}
    listed = {"apiVersion": "v1", "kind": "List", "items": [item]}
    assert load(files(manifests__x_yaml=listed)).others == (item,)


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        (
            {"apiVersion": "v1", "kind": "List", "items": []},
            "is not a list: no Items field in this object",
        ),
        ({"kind": "ConfigMap", "metadata": {"name": "x"}}, "object has no apiVersion field"),
        ({"apiVersion": "v1"}, "object has no kind field "),
        ({"apiVersion": "v1", "metadata": "x"}, "object has no kind field "),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": []}, "restore struct from: slice"),
        ([], "cannot unmarshal array"),
    ],
)
def test_items_of_a_list_are_whole_objects_and_no_lists(item: Any, problem: str) -> None:
    with pytest.raises(BundleError, match=problem):
        load(files(manifests__x_yaml={"apiVersion": "v1", "kind": "List", "items": [item]}))


def test_items_that_say_nothing_are_of_the_kind_of_the_list() -> None:
    items: list[Any] = [None, {"data": {}}]
    listed = {"apiVersion": "v1", "kind": "ConfigMapList", "items": items}
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    assert load(files(manifests__x_yaml=listed)).others == (kind, {**kind, "data": {}})


def test_what_has_items_is_a_list_even_without_any() -> None:
    nothing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "items": None}
    assert load(files(manifests__x_yaml=nothing)).others == ()
