"""Image references that follow the version of the cluster."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.conditions import ConditionStatus
from olm_classic.catalog_sources.templates import conditions, resolve, variables

VALUES = variables("v1.33.1+k3s1")
CANNOT = "cannot construct catalog image reference, because"


def test_the_variables_of_a_version() -> None:
    assert VALUES == {
        "{kube_major_version}": "1",
        "{kube_minor_version}": "33",
        "{kube_patch_version}": "1",
    }
    assert variables("") == {}


@pytest.mark.parametrize(
    ("template", "image", "fault"),
    [
        (
            "r.io/c:v{kube_major_version}.{kube_minor_version}.{kube_patch_version}",
            "r.io/c:v1.33.1",
            "",
        ),
        ("localhost:5000/a/b@sha256:" + "a" * 64, "localhost:5000/a/b@sha256:" + "a" * 64, ""),
        ("catalog", "catalog", ""),
        ("r.io/c:{b}-{a}-{b}", "r.io/c:{b}-{a}-{b}",
         'variable(s) "{a}", "{b}" could not be resolved'),
        ("r.io/c:{kube_major_version", "r.io/c:{kube_major_version",
         "one or more template(s) has improper syntax"),
        ("r.io/C:{kube_major_version}", "r.io/C:1", "one or more template(s) has improper syntax"),
        ("r.io/c:{x}}", "r.io/c:{x}}",
         'variable(s) "{x}" could not be resolved and one or more template(s) has improper syntax'),
    ],
)  # fmt: skip
def test_templates(template: str, image: str, fault: str) -> None:
    resolved = resolve(template, VALUES)
    assert resolved.image == image
    assert resolved.usable is not bool(fault)
    templates, result = conditions(resolved)
    assert (templates.type, result.type) == ("TemplatesHaveResolved", "ResolvedImage")
    assert result.message == image
    if fault:
        assert templates.message == f"{CANNOT} {fault}"
        assert {templates.reason, result.reason} == {"UnableToResolve"}
        assert {templates.status, result.status} == {ConditionStatus.FALSE}
    else:
        assert templates.message == "catalog image reference was successfully resolved"
        assert {templates.reason, result.reason} == {"AllTemplatesResolved"}
        assert {templates.status, result.status} == {ConditionStatus.TRUE}


def test_without_a_version_nothing_is_known() -> None:
    resolved = resolve("r.io/c:{kube_major_version}", {})
    assert resolved.unknown == ("{kube_major_version}",)
    assert not resolved.malformed


@given(st.text(alphabet="abc:/@{}_.v1"))
def test_what_is_usable_has_no_braces_left(template: str) -> None:
    resolved = resolve(template, VALUES)
    if resolved.usable:
        assert not set("{}") & set(resolved.image)
