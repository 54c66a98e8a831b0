import pytest

from cluster_version.update_service.settings import parse_settings


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ((), "give one of --graph-data and --graph-data-image"),
        (
            ("--graph-data=/d", "--graph-data-image=r.test/d:v1"),
            "give one of --graph-data and --graph-data-image",
        ),
        (("--graph-data-image=r.test/d",), "must end with a digest or a tag"),
        (("--graph-data=/d", "--releases=r.test/r:v1"), "invalid reference format"),
        (("--graph-data=/d", "--tls-cert=/c"), "--tls-cert and --tls-key go together"),
        (("--graph-data=/d", "--reload-interval=0"), "'0' is too short a pause; say 10ms or more"),
        (("--graph-data=/d", "--poll-interval=1us"), "too short a pause"),
        (("--graph-data=/d", "--bind-address=0"), "must be served somewhere"),
        (("--graph-data=/d", "--tls-profile=custom", "--tls-custom-curves=x"), "unknown TLS curve"),
    ],
)
def test_wrong_flags_are_reported(
    arguments: tuple[str, ...], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_settings(arguments)
    assert ended.value.code == 2
    assert fault in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "prefix"), [("", ""), ("/", ""), ("a/b/", "/a/b"), ("//a", "/a")]
)
def test_the_prefix_has_a_slash_before_it(given: str, prefix: str) -> None:
    assert parse_settings(["--graph-data=/d", f"--path-prefix={given}"]).prefix == prefix


def test_repositories_are_given_one_by_one() -> None:
    flags = ["--graph-data-image=r.test/d:v1", "--releases=r.test/a", "--releases=r.test/b/c"]
    settings = parse_settings(flags)
    assert str(settings.graph_data) == "r.test/d:v1"
    assert [each.name for each in settings.releases] == ["r.test/a", "r.test/b/c"]
