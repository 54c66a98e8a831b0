"""The schema says of each bundle what the check accepts."""

from itertools import combinations
from typing import Any

import pytest

from olm_content.bundle.config_check import DEPLOYMENT_CONFIG
from olm_content.bundle.config_schema import config_schema
from olm_content.bundle.configuration import ConfigurationError, parse
from olm_content.bundle.model import ClusterServiceVersion, InstallMode
from olm_content.kube_types.tables import fields_of

MODES = [
    set(some)
    for number in range(1, 5)
    for some in combinations(InstallMode, number)
]  # fmt: skip


def _accepts(modes: set[InstallMode], config: Any) -> bool:
    modes_of = [{"type": mode, "supported": mode in modes} for mode in InstallMode]
    csv = ClusterServiceVersion.of({"spec": {"installModes": modes_of}}, {})
    try:
        parse(config, csv, "")
    except ConfigurationError:
        return False
    return True


@pytest.mark.parametrize("modes", MODES, ids=lambda modes: "-".join(sorted(modes)))
def test_a_namespace_may_or_must_be_said_as_the_check_has_it(modes: set[InstallMode]) -> None:
    schema = config_schema([each.value for each in modes])
    known = "watchNamespace" in schema["properties"]
    required = "watchNamespace" in schema["required"]
    assert _accepts(modes, {"watchNamespace": "team"}) == known
    assert _accepts(modes, {}) == (not required)


def test_a_deployment_config_has_the_fields_that_are_checked() -> None:
    schema = config_schema(["AllNamespaces"])["properties"]["deploymentConfig"]
    assert schema["properties"].keys() == fields_of(DEPLOYMENT_CONFIG).keys()
    assert all(each["description"] for each in schema["properties"].values())
    assert schema["properties"]["env"]["items"]["properties"]["name"] == {"type": "string"}
    assert schema["properties"]["nodeSelector"]["additionalProperties"] == {"type": "string"}
