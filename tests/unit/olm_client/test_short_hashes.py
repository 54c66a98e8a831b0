"""Hashes are cut, and still tell apart what they name."""

from olm_client.short_hashes import short_digests, short_names

A, B = "1dhiybrldl1gyksid1dk2dqjsc72psdybc7iyvse5gpx", "1dhiybrld" + "z" * 35


def test_generated_names() -> None:
    assert short_names([f"op.v1-{A}", "op", "my-deployment"]) == [
        "op.v1-1dhiybr…",
        "op",
        "my-deployment",
    ]


def test_as_many_characters_as_it_takes() -> None:
    assert short_names([f"op-{A}", f"op-{B}"]) == ["op-1dhiybrldl…", "op-1dhiybrldz…"]
    assert short_names([f"op-{A}", f"op-{A}"]) == ["op-1dhiybr…"] * 2


def test_digests_are_cut_to_prefixes() -> None:
    one, two = "sha256:" + "a" * 64, "sha256:" + "a" * 20 + "b" * 44
    assert short_digests([one, ""]) == ["sha256:" + "a" * 12, ""]
    assert short_digests([one, two]) == ["sha256:" + "a" * 21, "sha256:" + "a" * 20 + "b"]
