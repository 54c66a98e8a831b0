"""The check of whole definitions: the documents' examples to the letter, versions, order."""

from typing import Any

import pytest

from api.objects import KubeObject
from olm_content.crds import check, report
from olm_content.crds.versions import CHECKS, ascending
from tests.unit.olm_content.crds.definitions import definition, version

BASE_PROPERTIES = {
    "apiVersion": {"type": "string"},
    "kind": {"type": "string"},
    "metadata": {"type": "object"},
    "spec": {"type": "object", "properties": {"pollInterval": {"type": "string"}}},
    "status": {"type": "object"},
    "pollInterval": {"type": "string"},
}
BASE_SCHEMA = {"type": "object", "properties": BASE_PROPERTIES}
PREFIX = (
    'validating upgrade for CRD "test.example.com" failed: '
    "CustomResourceDefinition test.example.com failed upgrade safety validation. "
)


def documented(**changes: Any) -> KubeObject:
    """The documents' base definition, with changes."""
    schema = changes.pop("schema", BASE_SCHEMA)
    name = changes.pop("version", "v1alpha1")
    return definition(version(name, schema), name="test.example.com", **changes)


def without_poll_interval() -> dict[str, Any]:
    spec = {"type": "object", "properties": {}}
    return {"type": "object", "properties": {**BASE_PROPERTIES, "spec": spec}}


DOCUMENTED = {
    "scope": (
        documented(scope="Cluster"),
        '"NoScopeChange" validation failed: scope changed from "Namespaced" to "Cluster"',
    ),
    "stored version": (
        documented(version="v1alpha2"),
        '"NoStoredVersionRemoved" validation failed: stored version "v1alpha1" removed',
    ),
    "field removed": (
        documented(schema=without_poll_interval()),
        (
            '"NoExistingFieldRemoved" validation failed: '
            "crd/test.example.com version/v1alpha1 field/^.spec.pollInterval may not be removed"
        ),
    ),
    "field required": (
        documented(schema={**BASE_SCHEMA, "required": ["pollInterval"]}),
        (
            '"ChangeValidator" validation failed: version "v1alpha1", field "^": '
            "new required fields added: [pollInterval]"
        ),
    ),
}


@pytest.mark.parametrize(("new", "message"), DOCUMENTED.values(), ids=DOCUMENTED)
def test_messages_are_the_documents(new: KubeObject, message: str) -> None:
    assert report(check(documented(), new)) == PREFIX + message


def test_the_checks_are_these() -> None:
    assert [each.__name__ for each in CHECKS] == [
        "scope_changed",
        "stored_versions_removed",
        "schemas_changed",
        "served_versions_differ",
    ]


def test_what_the_cluster_says_of_stored_versions_counts() -> None:
    both = (version("v2", {}), version("v1", {}))
    new = definition(version("v2", {}))
    assert check(definition(*both, stored=("v2",)), new) == ()
    (found,) = check(definition(*both, stored=("v1", "v2")), new)
    assert found.problem == 'stored version "v1" removed'


def test_a_removed_field_is_reported_once_with_all_that_is_in_it() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    old = definition(version("v1", {"type": "object", "properties": {"gone": inner}}))
    new = definition(version("v1", {"type": "object"}))
    assert [f.field for f in check(old, new)] == ["^.gone"]


def test_new_fields_and_new_versions_are_free() -> None:
    new_schema = {**BASE_SCHEMA, "properties": {**BASE_PROPERTIES, "more": {"type": "string"}}}
    new = definition(
        version("v1alpha1", new_schema), version("v1alpha2", new_schema), name="test.example.com"
    )
    assert check(documented(), new) == ()


def test_a_schema_where_there_was_none_is_refused() -> None:
    old = definition({"name": "v1", "served": True})
    assert check(old, definition(version("v1", {"type": "object"})))
    assert check(old, old) == ()


# Served versions


def number(**constraints: Any) -> dict[str, Any]:
    field = {"type": "integer", **constraints}
    return {"type": "object", "properties": {"field": field}}


OLD_PAIR = definition(version("v1beta1", number(maximum=10)), version("v1", number(maximum=10)))


def test_a_served_version_that_takes_less_than_the_one_before() -> None:
    new = definition(version("v1beta1", number(maximum=20)), version("v1", number(maximum=10)))
    (found,) = check(OLD_PAIR, new)
    assert found.message == (
        'version upgrade "v1beta1" to "v1", field "^.field": maximum decreased from 20 to 10'
    )


def test_what_was_so_before_is_not_reported() -> None:
    pair = definition(version("v1beta1", number()), version("v1", number(maximum=10)))
    assert check(pair, pair) == ()
    assert len(check(definition(version("v1beta1", number())), pair)) == 1


def test_a_field_that_only_the_older_version_has() -> None:
    new = definition(version("v1beta1", number()), version("v1", {"type": "object"}))
    (found,) = check(definition(version("v1beta1", number())), new)
    assert (found.version, found.field) == ("v1beta1 -> v1", "^.field")


def test_only_served_versions_count() -> None:
    new = definition(
        version("v1beta1", number(maximum=20), served=False), version("v1", number(maximum=10))
    )
    assert check(OLD_PAIR, new) == ()


def test_a_conversion_webhook_sees_to_it() -> None:
    versions = version("v1beta1", number(maximum=20)), version("v1", number(maximum=10))
    assert check(OLD_PAIR, definition(*versions, conversion="Webhook")) == ()


def test_versions_are_ranked_as_kubernetes_ranks_them() -> None:
    names = ["v10", "v2", "v1", "v0", "v11beta2", "v10beta3", "v03beta0", "v12alpha1", "foo1"]
    assert ascending(names) == list(reversed(names))


def test_a_version_of_more_digits_than_python_reads_is_a_name_as_any_other() -> None:
    long = f"v{'1' * 5000}"
    assert ascending(["v1", long]) == [long, "v1"]


# The message


def test_worst_first_and_the_same_in_any_order() -> None:
    old = definition(
        version("v1", {"type": "object", "properties": {"a": {}, "b": {"type": "string"}}}),
        version("v2", {}),
    )
    new = definition(
        version("v1", {"type": "object", "properties": {"b": {"type": "integer"}}}),
        scope="Cluster",
        conversion="Webhook",
    )
    old["status"] = {"storedVersions": ["v2"]}
    found = check(old, new)
    assert [f.validator.value for f in found] == [
        "NoScopeChange",
        "NoStoredVersionRemoved",
        "NoExistingFieldRemoved",
        "ChangeValidator",
    ]
    assert report(reversed(found)) == report(found)


def test_the_message_fits_into_a_condition_and_counts_what_does_not() -> None:
    many = {f"field{i:04}": {"type": "string"} for i in range(2000)}
    old = definition(version("v1", {"type": "object", "properties": many}))
    found = check(old, definition(version("v1", {"type": "object"})))
    text = report(found)
    assert len(text.encode()) < 32 * 1024
    *lines, rest = text.splitlines()
    assert rest == f"... and {2000 - len(lines)} more findings"
    assert len(text.encode()) > 30 * 1024


def test_no_findings_are_no_message() -> None:
    assert report(()) == ""
