"""Which keys have to sign, where signatures are looked for, and what is reported without one."""

from datetime import timedelta

import pytest

from cluster_version.names import VERIFICATION_CONFIG_MAP
from cluster_version.signatures.configuration import (
    ConfigurationError,
    find_configuration,
    read_configuration,
)
from cluster_version.signatures.errors import VerificationError
from cluster_version.signatures.key_rings import read_key_ring
from cluster_version.signatures.search import Search, check_digest, digest_of
from cluster_version.signatures.stores import address, signatures_in
from tests.openpgp import BEGAN, DIGEST, Signer, statement

NOW = BEGAN + timedelta(days=1)


@pytest.fixture(scope="module")
def signers() -> tuple[Signer, Signer]:
    return Signer(), Signer()


def test_each_ring_has_to_sign_once(signers: tuple[Signer, Signer]) -> None:
    first, second = signers
    rings = {
        name: read_key_ring(each.certificate())
        for name, each in zip(("b", "a"), signers, strict=True)
    }
    search = Search(rings, DIGEST, NOW)
    search.offer(first.message(statement()))
    assert not search.is_done
    search.offer(first.message(statement()))
    with pytest.raises(VerificationError) as caught:
        search.finish()
    assert caught.value.message == f"unable to verify {DIGEST} against keyrings: a"
    assert caught.value.unfolded == f"{caught.value.message}\ninvalid signature"
    search.offer(second.message(statement()))
    search.finish()
    assert len(search.signed) == 2


def test_one_key_of_a_ring_is_enough(signers: tuple[Signer, Signer]) -> None:
    ring = read_key_ring(signers[0].certificate() + signers[1].certificate())
    for each in signers:
        search = Search({"ring": ring}, DIGEST, NOW)
        search.offer(each.message(statement()))
        search.finish()


def test_what_was_tried_is_reported_once() -> None:
    search = Search({"ring": ()}, DIGEST, NOW)
    for problem in ("first", "second", "first"):
        search.note(problem)
    with pytest.raises(VerificationError) as caught:
        search.finish()
    assert caught.value.unfolded.endswith("against keyrings: ring\n[first, second]")


def test_only_images_that_are_named_by_digest_can_be_verified() -> None:
    assert digest_of(f"example.com:5000/release@{DIGEST}") == DIGEST
    assert digest_of("example.com:5000/release:1.0.0") == ""
    with pytest.raises(VerificationError, match="not accessed via digest"):
        check_digest("")
    with pytest.raises(VerificationError, match='invalid format: "sha256:a/b"'):
        check_digest("sha256:a/b")


def test_the_first_config_map_of_a_release_that_says_so_configures(
    signers: tuple[Signer, Signer],
) -> None:
    def config_map(name: str, data: dict[str, str] | None) -> dict[str, object]:
        metadata = {"name": name, "namespace": "n", "annotations": {VERIFICATION_CONFIG_MAP: ""}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}

    plain = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "plain"}}
    assert find_configuration([plain]) is None
    data = {"verifier-public-key-a": "", "store-a": " https://example.com/a ", "other": "x"}
    found = find_configuration([plain, config_map("a", data), config_map("b", {})])
    assert found
    assert (dict(found.rings), found.stores) == (
        {"verifier-public-key-a": ()},
        ("https://example.com/a",),
    )
    with pytest.raises(ConfigurationError, match="the config map n/b did not provide"):
        find_configuration([config_map("b", None), config_map("a", data)])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"verifier-public-key-a": ""}, "did not provide any signature stores"),
        ({"store-a": "file:///signatures"}, "did not provide any GPG public keys"),
        ({"store-a": "ftp://example.com"}, 'invalid key "store-a": must be a valid URL'),
        ({"store-a": "https://["}, 'invalid key "store-a": must be a valid URL'),
        ({"verifier-public-key-a": "x"}, 'key "verifier-public-key-a" that must be a GPG'),
    ],
)
def test_a_configuration_without_which_nothing_can_be_verified(
    data: dict[str, str], problem: str
) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        read_configuration("s", data)


def test_where_stores_have_signatures() -> None:
    place = f"{DIGEST.replace(':', '=')}/signature-2"
    assert address("http://a:80/b/?c=d", DIGEST, 2) == f"http://a:80/b/{place}?c=d"
    assert address("https://a", DIGEST, 2) == f"https://a/{place}"
    assert address("file:///b", DIGEST, 2) == f"/b/{place}"


def test_config_maps_have_signatures_under_keys_that_begin_with_the_digest() -> None:
    prefix = DIGEST.replace(":", "-")
    found = {"binaryData": {f"{prefix}-2": "b", f"{prefix}x": "c", "sha256-b": "n", prefix: "a"}}
    assert list(signatures_in(found, DIGEST)) == ["a", "b", "c"]
    assert list(signatures_in({}, DIGEST)) == []
