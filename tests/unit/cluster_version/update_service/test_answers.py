from cluster_version.graph_data.building import UpdateGraphs
from cluster_version.graph_data.releases import GraphRelease
from cluster_version.update_service.answers import OVERHEAD_BYTES, Answer, Generation

RELEASE = GraphRelease("4.1.0", "amd64", "r.test/r:v")
GRAPHS = UpdateGraphs([RELEASE], {name: ["4.1.0"] for name in "abc"}, ())


def test_what_nobody_knows_has_one_answer() -> None:
    generation = Generation(GRAPHS)
    found = {generation.cached(("z", "amd64")), generation.cached(("a", "s390x"))}
    assert found == {Answer.of(GRAPHS.body("z", "amd64"))}
    assert generation.cached(("a", "amd64")) is None
    assert generation.asked() == []


def test_answers_that_were_longest_not_asked_for_give_way() -> None:
    generation = Generation(GRAPHS, most_bytes=2 * OVERHEAD_BYTES + 200)
    answer = Answer(b"{}", b"", "digest")
    for channel in ("a", "b"):
        generation.keep((channel, "amd64"), answer)
    assert generation.cached(("a", "amd64")) is answer
    generation.keep(("c", "amd64"), answer)
    assert generation.asked() == [("a", "amd64"), ("c", "amd64")]


def test_one_answer_is_cached_however_large() -> None:
    generation = Generation(GRAPHS, most_bytes=1)
    generation.keep(("a", "amd64"), Answer(b"1" * 10, b"", "digest"))
    assert generation.asked() == [("a", "amd64")]
