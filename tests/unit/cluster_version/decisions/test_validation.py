"""What is wrong with a ClusterVersion."""

from typing import Any

import pytest

from cluster_version.decisions.urls import is_address
from cluster_version.decisions.validation import field_errors, message_of, without_faults

ID = "01234567-0123-4123-8123-0123456789ab"


def cluster_version(
    desired: dict[str, Any] | None = None, *, name: str = "version", **spec: Any
) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"clusterID": ID, "desiredUpdate": desired, **spec},
        "status": {
            "availableUpdates": [
                {"version": "1.0.1", "image": "a@sha256:1"},
                {"version": "1.0.2", "image": "a@sha256:2"},
                {"version": "1.0.2", "image": "a@sha256:22"},
                {"version": "1.0.3", "image": ""},
            ],
            "history": [
                {"version": "1.0.0", "image": "a@sha256:0"},
                {"version": "1.0.0", "image": "b@sha256:0"},
                {"version": "0.9.0", "image": ""},
            ],
        },
    }


def messages(given: dict[str, Any], *, gate: bool = False) -> list[str]:
    return [each.message for each in field_errors(given, risks_can_be_accepted=gate)]


@pytest.mark.parametrize(
    ("desired", "problem"),
    [
        ({}, "spec.desiredUpdate: Required value: must specify architecture, version, or image"),
        (
            {"version": "1.0"},
            (
                'spec.desiredUpdate.version: Invalid value: "1.0": must be a semantic version '
                "(1.2.3[-...])"
            ),
        ),
        (
            {"version": "v1", "image": "a@sha256:9"},
            (
                'spec.desiredUpdate.version: Invalid value: "v1": must be a semantic version '
                "(1.2.3[-...])"
            ),
        ),
        (
            {"version": "1.0.2"},
            (
                'spec.desiredUpdate.version: Invalid value: "1.0.2": there are multiple possible '
                "payloads for this version, specify the exact image"
            ),
        ),
        *(
            (
                {"version": version},
                (
                    f'spec.desiredUpdate.version: Invalid value: "{version}": when image is empty '
                    "the update must be an available update"
                ),
            )
            for version in ("1.0.3", "0.9.0", "7.0.0")
        ),
        (
            {"acceptRisks": [{"name": "A"}]},
            "spec.desiredUpdate.acceptRisks: Forbidden: acceptRisks must not be specified",
        ),
    ],
)
def test_an_update_that_cannot_be_is_reported(desired: dict[str, Any], problem: str) -> None:
    assert messages(cluster_version(desired)) == [problem]


@pytest.mark.parametrize(
    "desired",
    [
        None,
        {"version": "1.0.1"},
        {"version": "1.0.0"},  # of the history, however often
        {"version": "7.0.0", "image": "a@sha256:9"},
        {"image": "a@sha256:9"},
        {"architecture": "Multi"},
    ],
)
def test_an_update_that_can_be_is_no_fault(desired: dict[str, Any] | None) -> None:
    assert messages(cluster_version(desired)) == []


def test_with_the_gate_risks_may_be_all_that_is_asked() -> None:
    assert messages(cluster_version({"acceptRisks": [{"name": "A"}]}), gate=True) == []
    assert messages(cluster_version({}), gate=True) == [
        (
            "spec.desiredUpdate: Required value: must specify architecture, version, image, or "
            "acceptRisks"
        )
    ]


@pytest.mark.parametrize(
    ("identifier", "problem"),
    [
        ("x", "must be an RFC4122-variant UUID"),
        ("01234567-0123-4123-c123-0123456789ab", "must be an RFC4122-variant UUID"),
        ("01234567-0123-1123-8123-0123456789ab", "must be a version-4 UUID"),
    ],
)
def test_a_cluster_is_named_by_a_random_uuid(identifier: str, problem: str) -> None:
    assert messages(cluster_version(clusterID=identifier)) == [
        f'spec.clusterID: Invalid value: "{identifier}": {problem}'
    ]


@pytest.mark.parametrize("identifier", ["", ID.upper(), f"urn:uuid:{ID}", f"{{{ID}}}"])
def test_forms_of_a_cluster_id(identifier: str) -> None:
    assert messages(cluster_version(clusterID=identifier)) == []


def test_names_are_labels() -> None:
    assert "a DNS-1035 label must consist of" in messages(cluster_version(name="1x"))[0]
    assert messages(cluster_version(name="x" * 64)) == [
        f'metadata.name: Invalid value: "{"x" * 64}": must be no more than 63 characters'
    ]
    assert messages(cluster_version(name="")) == [
        "metadata.name: Required value: name or generateName is required"
    ]


@pytest.mark.parametrize(
    "text",
    ["", "x", "a/b:c", "http:", "http://h:80/p?q=%zz#f", "//h", "///h:x", "http://[::1]:8/", "*"],
)
def test_nearly_everything_is_an_address(text: str) -> None:
    assert is_address(text)
    assert messages(cluster_version(upstream=text)) == []


@pytest.mark.parametrize(
    "text",
    [
        ":x",
        "1http://h",
        "http://h:x/",
        "http://a b/",
        "/%zz",
        "x#%z",
        "http://h\x7f",
        "http://[::1",
    ],
)
def test_what_is_no_address(text: str) -> None:
    assert not is_address(text)
    assert [each.field for each in field_errors(cluster_version(upstream=text))] == [
        "spec.upstream"
    ]


def test_work_goes_on_without_what_is_wrong() -> None:
    given = cluster_version({"version": "7.0.0"}, clusterID="x", upstream=":x", channel="fast")
    spec = without_faults(given, field_errors(given))["spec"]
    assert spec == {"desiredUpdate": None, "clusterID": "", "upstream": "", "channel": "fast"}
    assert given["spec"]["upstream"] == ":x"
    empty = cluster_version({"force": True})
    assert without_faults(empty, field_errors(empty)) == empty


def test_the_condition_lists_several_errors() -> None:
    one = field_errors(cluster_version({}))
    assert message_of(one) == f"The cluster version is invalid: {one[0].message}"
    two = field_errors(cluster_version({}, clusterID="x"))
    assert message_of(two) == (
        f"The cluster version is invalid:\n* {two[0].message}\n* {two[1].message}\n"
    )
