"""The cluster's proxy as variables of containers."""

from olm_classic.csv.cluster_proxy import variables_of


def test_only_what_the_status_says_is_set() -> None:
    proxy = {
        "spec": {"httpProxy": "http://wished"},
        "status": {"httpProxy": "http://proxy:3128", "noProxy": ".cluster.local", "httpsProxy": ""},
    }
    assert variables_of(proxy) == [
        {"name": "HTTP_PROXY", "value": "http://proxy:3128"},
        {"name": "NO_PROXY", "value": ".cluster.local"},
    ]
    assert variables_of({"spec": {}}) == []
    assert variables_of(None) == []
