"""Which CatalogSources can be served."""

from typing import Any

import pytest

from olm_classic.catalog_sources.validation import (
    is_address,
    is_config_map,
    is_image,
    problem_of,
)
from tests.unit.olm_classic.catalog_sources.cases import source

UNSET = "configmap name unset: must be set for sourcetype:"


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({}, "image and address unset: at least one must be set for sourcetype: grpc"),
        ({"image": "a"}, ""),
        ({"address": "a:1"}, ""),
        ({"sourceType": "configmap"}, f"{UNSET} configmap"),
        ({"sourceType": "internal", "image": "a"}, f"{UNSET} internal"),
        ({"sourceType": "internal", "configMap": "a"}, ""),
        ({"sourceType": "GRPC", "image": "a"}, "unknown sourcetype: GRPC"),
        ({"sourceType": ""}, "unknown sourcetype: "),
    ],
)
def test_what_is_wrong(spec: dict[str, Any], problem: str) -> None:
    assert problem_of(source(**spec).spec) == problem


def test_an_image_goes_before_an_address() -> None:
    both = source(image="a", address="a:1").spec
    assert is_image(both)
    assert not is_address(both)
    assert is_address(source(address="a:1").spec)
    assert not is_config_map(both)
    assert is_image(source(image="a").spec)
    assert is_config_map(source(sourceType="internal", configMap="a", image="b").spec)
    assert not is_image(source(sourceType="internal", configMap="a", image="b").spec)
