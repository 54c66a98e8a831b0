"""Models of OLM Classic: names in JSON that no rule makes, and values of two types."""

import pytest

from api import wire
from api.operators.v1.olmconfig import OLMConfig
from api.operators.v1alpha1.catalogsource import GrpcPodConfig
from api.operators.v1alpha1.subscription import Subscription
from api.wire import InvalidObjectError

SUBSCRIPTION = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "Subscription",
    "metadata": {"name": "etcd", "namespace": "default"},
    "spec": {"name": "etcd", "source": "operatorhubio", "sourceNamespace": "olm"},
}


def test_names_in_json_may_be_others() -> None:
    spec = SUBSCRIPTION["spec"] | {"startingCSV": "etcd.v1"}  # type: ignore[operator]
    read = Subscription.from_object(SUBSCRIPTION | {"spec": spec})
    assert read.spec.starting_csv == "etcd.v1"
    assert wire.write(read.spec) == spec


@pytest.mark.parametrize(
    ("approval", "manual"),
    [("", False), ("Automatic", False), ("Manual", True), ("manual", False), ("Perhaps", False)],
)
def test_one_word_alone_has_plans_wait(approval: str, manual: bool) -> None:
    spec = SUBSCRIPTION["spec"] | {"installPlanApproval": approval}  # type: ignore[operator]
    assert Subscription.from_object(SUBSCRIPTION | {"spec": spec}).spec.is_manual is manual


def test_an_older_group_is_refused() -> None:
    with pytest.raises(InvalidObjectError, match="apiVersion: expected"):
        Subscription.from_object(SUBSCRIPTION | {"apiVersion": "operators.coreos.com/v1"})


@pytest.mark.parametrize("target", ["100Mi", 104857600])
def test_a_quantity_is_kept_as_it_is_written(target: int | str) -> None:
    config = wire.read(GrpcPodConfig, {"memoryTarget": target})
    assert config.memory_target == target
    assert wire.write(config) == {"memoryTarget": target}


@pytest.mark.parametrize("target", [True, [], {}, 0.5])
def test_a_quantity_is_a_number_or_a_text(target: object) -> None:
    with pytest.raises(InvalidObjectError, match="memoryTarget: expected a whole number"):
        wire.read(GrpcPodConfig, {"memoryTarget": target})


def test_what_is_not_said_is_not_written() -> None:
    config = OLMConfig.from_object({"metadata": {"name": "cluster"}})
    assert not config.spec.features.disable_copied_csvs
    assert wire.write(config) == {"metadata": {"name": "cluster"}}
