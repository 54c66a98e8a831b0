"""What a page of metrics says."""

from collections import Counter

from prometheus_client.parser import text_string_to_metric_families


def summed(page: str, name: str, by: str, /, **labels: str) -> Counter[str]:
    """The samples of a counter that have these labels, by the value of another one."""
    found: Counter[str] = Counter()
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                found[sample.labels[by]] += int(sample.value)
    return found


def requests_by_method(page: str) -> Counter[str]:
    """How many a program has sent to the API server, but for its lease."""
    return summed(page, "rest_client_requests_total", "method")
