"""Hints where no bundle can be chosen: the name that is wrong, and what there is instead."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from api.metadata import LabelSelector
from api.olm.v1.clusterextension import CatalogFilter
from olm_client.resolution.hints import hint_text, unknown_channels
from olm_content.fbc.model import Bundle, Channel, Package
from olm_content.versions import parse_bundle_version
from olm_runtime.errors import OLMError
from operator_controller.resolve import CatalogContent, Request, ResolutionError, resolve
from operator_controller.resolve.change import named

PACKAGE = Package(
    "op",
    channels=(Channel("stable"), Channel("alpha")),
    bundles=tuple(
        Bundle(f"op.v{version}", "image", parse_bundle_version(version))
        for version in ("1.0.0", "1.10.0", "1.9.0")
    ),
)
MAIN = CatalogContent(name="main", labels=named("main"), package=PACKAGE)
OTHER = CatalogContent(name="other", labels=named("other"))
DOWN = MAIN._replace(package=None, unavailable=OLMError("it is down", hint="start it"))


def of_catalog(name: str) -> LabelSelector:
    return LabelSelector(match_labels=named(name))


@pytest.mark.parametrize(
    ("desired", "offered", "switched_off", "hint"),
    [
        ({"version": "2.x"}, [MAIN], [], "catalog main has versions 1.10.0, 1.9.0, 1.0.0"),
        ({"channels": ("stabel",)}, [MAIN], [], 'no channel "stabel": did you mean stable?'),
        ({"channels": ("x",)}, [MAIN], [], 'no channel "x": there are stable, alpha'),
        ({"selector": of_catalog("mian")}, [MAIN, OTHER], [], '"mian": did you mean main?'),
        ({"selector": of_catalog("x")}, [MAIN, OTHER], [], '"x": there are main, other'),
        ({"selector": of_catalog("x")}, [MAIN], [], 'no catalog "x": there is main'),
        ({"selector": of_catalog("of")}, [MAIN], ["of"], "catalog of is switched off"),
        ({"selector": of_catalog("of1")}, [MAIN], ["of"], '"of1": did you mean of?'),
        ({"selector": LabelSelector(match_labels={"a": "b"})}, [MAIN], [], "means none of the"),
        ({}, [], [], "there is no catalog: olm catalog add NAME IMAGE adds one"),
        ({}, [], ["of"], "catalog of is switched off: olm catalog enable of takes it into use"),
        ({}, [OTHER], ["of"], "other has no package of that name; catalog of is switched off"),
        ({}, [OTHER], [], "olm search WORDS finds packages"),
        ({}, [DOWN], [], "start it"),
        ({"package_name": "operator"}, [OTHER], [], "did you mean op?"),
    ],
)
def test_the_first_name_that_is_wrong_is_reported(
    desired: dict[str, Any],
    offered: Sequence[CatalogContent],
    switched_off: Sequence[str],
    hint: str,
) -> None:
    asked = structs.replace(CatalogFilter(package_name="op"), **desired)
    with pytest.raises(ResolutionError) as raised:
        resolve(Request(asked), offered)
    reported = hint_text(
        raised.value,
        asked,
        offered,
        switched_off=switched_off,
        near_packages=lambda: "did you mean op?" if asked.package_name != "op" else "",
    )
    assert hint in reported
    assert reported.count("it is down") == 0, "which the message says already"


def test_a_channel_that_one_of_the_packages_has_is_known() -> None:
    asked = CatalogFilter(package_name="op", channels=("stable", "beta", "alpah"))
    other = replace(PACKAGE, channels=(Channel("beta"),))
    [hint] = unknown_channels(asked, [PACKAGE, other])
    assert hint == 'there is no channel "alpah": did you mean alpha?'
