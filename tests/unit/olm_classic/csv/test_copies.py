"""Copies of a ClusterServiceVersion."""

from olm_classic.csv.copies import copy_of


def test_a_copy_has_the_phase_of_the_operator_and_says_where_it_runs() -> None:
    csv = {
        "metadata": {
            "name": "etcd.v1",
            "namespace": "operators",
            "uid": "1",
            "annotations": {
                "olm.targetNamespaces": "a,b",
                "olm.operatorNamespace": "operators",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
            },
            "labels": {"operators.coreos.com/etcd.operators": "", "team": "db"},
        },
        "spec": {"displayName": "etcd"},
        "status": {"phase": "Succeeded", "reason": "InstallSucceeded", "message": "installed"},
    }
    copy = copy_of(csv, "a")
    assert copy["metadata"] == {
        "name": "etcd.v1",
        "namespace": "a",
        "annotations": {"olm.operatorNamespace": "operators"},
        "labels": {"team": "db", "olm.copiedFrom": "operators"},
    }
    assert copy["spec"] == csv["spec"]
    assert copy["status"] == {
        "phase": "Succeeded",
        "reason": "Copied",
        "message": "The operator is running in operators but is managing this namespace",
    }
