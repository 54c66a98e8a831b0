"""What `upgrade` prints and asks for, with the example of the document."""

from typing import Any

import pytest

from cluster_version.client_output.upgrade_request import Request, answer, checked
from cluster_version.client_output.upgrade_view import Form, overview
from olm_runtime.errors import TerminalError

Json = dict[str, Any]

DIGESTS = {name: f"sha256:{name * 64}" for name in "abcd"}
RISK = "Nodes may not reconcile https://bugs.example.com/1\nuntil they reboot"


def image(name: str, repository: str = "registry.example.com/release") -> str:
    return f"{repository}@{DIGESTS[name]}"


def cluster(*conditions: Json, **spec: Any) -> Json:
    defaults = [
        {"type": "Failing", "status": "False"},
        {"type": "Progressing", "status": "False", "message": "Cluster version is 4.10.22"},
        {"type": "ReleaseAccepted", "status": "True"},
    ]
    types = {each["type"] for each in conditions}
    risk = {"type": "Recommended", "status": "False", "reason": "Timeout", "message": RISK}
    return {
        "spec": {"channel": "fast-4.11", **spec},
        "status": {
            "desired": {"version": "4.10.22", "image": image("d"), "channels": ["a", "b"]},
            "conditions": [each for each in defaults if each["type"] not in types] + [*conditions],
            "availableUpdates": [
                {"version": "4.10.9", "image": image("a")},
                {"version": "4.10.26", "image": image("b")},
            ],
            "conditionalUpdates": [
                {"release": {"version": "4.11.0", "image": image("c")}, "conditions": [risk]}
            ],
        },
    }


def refuse(_: str) -> None:
    pytest.fail("nobody is to be warned")


def test_the_form_of_the_document() -> None:
    assert overview(cluster(), refuse, not_recommended=True) == (
        "Cluster version is 4.10.22\n\n"
        "Upstream is unset, so the cluster will use an appropriate default.\n"
        "Channel: fast-4.11 (available channels: a, b)\n\n"
        "Recommended updates:\n\n"
        "  VERSION     IMAGE\n"
        f"  4.10.26     {image('b')}\n"
        f"  4.10.9      {image('a')}\n\n"
        "Supported but not recommended updates:\n\n"
        "  Version: 4.11.0\n"
        f"  Image: {image('c')}\n"
        "  Recommended: False\n"
        "  Reason: Timeout\n"
        "  Message: Nodes may not reconcile https://bugs.example.com/1\n  until they reboot\n"
    )


def test_the_current_form_has_no_verdict() -> None:
    text = overview(cluster(), refuse, form=Form.CURRENT, not_recommended=True)
    assert "Updates with known issues:\n" in text
    assert "Recommended: False" not in text


def test_a_long_version_widens_its_column() -> None:
    given = cluster()
    given["status"]["availableUpdates"].append({"version": "4.12.0-rc.1+build", "image": "i"})
    assert "  4.12.0-rc.1+build i\n  4.10.26           " in overview(given, refuse)


def test_missing_conditions_are_warnings() -> None:
    given, warnings = cluster(), list[str]()
    given["status"]["conditions"] = []
    overview(given, warnings.append)
    assert [each.split()[3] for each in warnings] == ["Failing", "Progressing"]


@pytest.mark.parametrize(
    ("request_", "version", "asked"),
    [
        (Request(to="4.10.9"), "4.10.9", image("a")),
        (Request(to_latest=True), "4.10.26", image("b")),
        (Request(to_image=image("a", "m.io/x")), "4.10.9", image("a", "m.io/x")),
    ],
)
def test_a_target_is_asked_for_by_version_and_image(
    request_: Request, version: str, asked: str
) -> None:
    given = cluster(desiredUpdate={"version": "4", "acceptRisks": [{"name": "Known"}]})
    found = answer(given, request_, refuse)
    assert found.text == f"Requested update to {version}\n"
    assert found.patch == {
        "spec": {
            "desiredUpdate": {
                "version": version,
                "image": asked,
                "force": False,
                "architecture": "",
                "acceptRisks": [{"name": "Known"}],
            }
        }
    }


def test_a_risk_has_to_be_accepted() -> None:
    with pytest.raises(TerminalError, match="--allow-not-recommended"):
        answer(cluster(), Request(to="4.11.0"), refuse)
    warnings: list[str] = []
    request = Request(to="4.11.0", allow_not_recommended=True)
    assert answer(cluster(), request, warnings.append).patch
    assert "accepted the risks with 4.11.0" in warnings[0]


@pytest.mark.parametrize("type_", ["Invalid", "Failing", "Progressing"])
def test_a_state_that_stops_an_update_may_be_passed_over(type_: str) -> None:
    given = cluster({"type": type_, "status": "True", "reason": "Why", "message": "text"})
    with pytest.raises(TerminalError, match="use --allow-upgrade-with-warnings"):
        answer(given, Request(to_latest=True), refuse)
    warnings: list[str] = []
    request = Request(to_latest=True, allow_upgrade_with_warnings=True)
    assert answer(given, request, warnings.append).patch
    assert "Reason: Why" in warnings[0]


def test_an_image_outside_the_lists_has_to_be_allowed() -> None:
    foreign = f"m.io/x@sha256:{'e' * 64}"
    with pytest.raises(TerminalError, match="--allow-explicit-upgrade"):
        answer(cluster(), Request(to_image=foreign), refuse)
    request = Request(to_image=foreign, allow_explicit_upgrade=True)
    assert answer(cluster(), request, lambda _: None).text == (
        f"Requested update to release image {foreign}\n"
    )


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"version": "4.10.22"}, "Cleared the update field, still at 4.10.22\n"),
        ({"version": "4.10.26"}, "Cancelled requested upgrade to 4.10.26\n"),
    ],
)
def test_a_request_is_taken_back(wanted: Json, text: str) -> None:
    found = answer(cluster(desiredUpdate=wanted), Request(clear=True), refuse)
    assert (found.text, found.patch) == (text, {"spec": {"desiredUpdate": None}})


@pytest.mark.parametrize(
    "request_",
    [
        Request(clear=True, to="4.10.26"),
        Request(to_multi_arch=True, to_latest=True),
        Request(to="4.10.26", to_image=image("b")),
        Request(to_image="m.io:5000/x"),
        Request(to_image="m.io/x:tag"),
        Request(to_image="x"),
    ],
)
def test_requests_that_contradict_themselves(request_: Request) -> None:
    with pytest.raises(TerminalError):
        checked(request_, refuse)


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        (image("a", "m.io/Team/x"), "repository name must be lowercase"),
        (image("a", "https://m.io/x"), "invalid reference format"),
        ("4.10.26", "no registry or repository specified"),
        ("m.io/x", "no tag or digest specified"),
    ],
)
def test_images_that_are_none(reference: str, problem: str) -> None:
    with pytest.raises(TerminalError, match=f"must be a valid image pull spec: {problem}$"):
        checked(Request(to_image=reference), refuse)


def test_the_latest_may_be_one_whose_risks_are_accepted() -> None:
    warnings: list[str] = []
    request = Request(to_latest=True, allow_not_recommended=True)
    assert answer(cluster(), request, warnings.append).text == "Requested update to 4.11.0\n"
    assert "accepted the risks with 4.11.0" in warnings[0]


@pytest.mark.parametrize(
    ("request_", "updates", "text"),
    [
        (
            Request(to="4.10.30"),
            True,
            (
                "the update is not one of the possible targets: 4.10.26, 4.10.9. specify "
                "--to-image to continue with the update."
            ),
        ),
        (
            Request(to="4.10.30"),
            False,
            (
                "no recommended updates, specify --to-image to continue with the update or wait "
                "for new updates to be available."
            ),
        ),
        (
            Request(to_latest=True, allow_not_recommended=True),
            False,
            (
                "no recommended or conditional updates, specify --to-image to continue with an "
                "update or wait for new updates to be available."
            ),
        ),
    ],
)
def test_what_is_not_there_is_reported_with_what_to_do(
    request_: Request, updates: bool, text: str
) -> None:
    given = cluster()
    if not updates:
        given["status"] |= {"availableUpdates": None, "conditionalUpdates": None}
    with pytest.raises(TerminalError) as refused:
        answer(given, request_, refuse)
    assert refused.value.message == text


def test_updates_that_could_not_be_retrieved_are_why_there_is_no_target() -> None:
    failed = {"type": "RetrievedUpdates", "status": "False", "reason": "Why", "message": "a\nb"}
    with pytest.raises(TerminalError) as refused:
        answer(cluster(failed), Request(to="4.10.30"), refuse)
    assert refused.value.message == (
        "cannot refresh available updates:\n  Reason: Why\n  Message: a\n  b\n\n"
        "specify --to-image to continue with the update."
    )


def test_all_that_speaks_against_an_update_is_reported() -> None:
    states = [
        {"type": type_, "status": "True", "reason": "Why", "message": "text"}
        for type_ in ("Failing", "Invalid")
    ]
    with pytest.raises(TerminalError) as refused:
        answer(cluster(*states), Request(to_latest=True), refuse)
    assert "correct the invalid state first:" in refused.value.message
    assert (
        '\n\nthe cluster is experiencing an error reconciling "4.10.22":' in refused.value.message
    )


def test_accepted_risks_outlive_the_request() -> None:
    risks = [{"name": "Known"}]
    given = cluster(desiredUpdate={"version": "4.10.26", "acceptRisks": risks})
    patch = answer(given, Request(clear=True), refuse).patch
    assert patch is not None
    assert patch["spec"]["desiredUpdate"] == {
        "architecture": "",
        "force": False,
        "image": "",
        "version": "",
        "acceptRisks": risks,
    }


def test_a_version_is_a_semantic_one() -> None:
    with pytest.raises(TerminalError, match="--to must be a semantic version"):
        checked(Request(to="latest"), refuse)
