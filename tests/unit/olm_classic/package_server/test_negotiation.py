import pytest

from olm_classic.package_server.negotiation import PLAIN, Form, form_of, meta_forms, takes_gzip
from olm_runtime.aggregation.statuses import StatusError

TABLE = Form("Table", "meta.k8s.io", "v1")


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", PLAIN),
        ("*/*", PLAIN),
        ("application/json", PLAIN),
        ("application/vnd.kubernetes.protobuf, application/json", PLAIN),
        ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", TABLE),
        ("application/json;as=Other;v=v1;g=meta.k8s.io,application/json", PLAIN),
        ("application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,*/*", PLAIN),
    ],
)
def test_the_first_form_that_there_is(accept: str, form: Form) -> None:
    assert form_of(accept, meta_forms("Table")) == form


@pytest.mark.parametrize("accept", ["text/html", "application/json;as=Other;g=meta.k8s.io;v=v1"])
def test_no_form_that_there_is(accept: str) -> None:
    with pytest.raises(StatusError) as refused:
        form_of(accept, meta_forms("Table"))
    assert refused.value.code == 406


@pytest.mark.parametrize(
    ("header", "taken"),
    [("gzip", True), ("deflate, gzip;q=0.5", True), ("*", True), ("", False), ("br", False),
     ("gzip;q=0", False)],
)  # fmt: skip
def test_gzip(header: str, taken: bool) -> None:
    assert takes_gzip(header) is taken
