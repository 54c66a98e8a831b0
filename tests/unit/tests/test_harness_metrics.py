"""What is read from a page of metrics."""

from e2e.harness.metrics import requests_by_method


def test_requests_are_counted_by_method_whatever_came_of_them() -> None:
    counted = [("200", "GET", 5), ("404", "GET", 2), ("200", "PATCH", 1)]
    lines = [
        f'rest_client_requests_total{{code="{code}",method="{method}"}} {number}.0\n'
        for code, method, number in counted
    ]
    metrics = "# TYPE rest_client_requests counter\n" + "".join(lines) + "other_total 7.0\n"
    assert requests_by_method(metrics) == {"GET": 7, "PATCH": 1}
