"""The file of CAs that a cluster injects."""

import ssl
from pathlib import Path

import pytest

from e2e.harness.pki import CertificateAuthority
from olm_runtime.errors import TransientError
from olm_runtime.http.ca_file import CaFile
from olm_runtime.http.trust import registry_trust


@pytest.fixture
def authorities(tmp_path: Path) -> list[str]:
    """Two CAs, as PEM."""
    made = (CertificateAuthority.load_or_create(tmp_path, name) for name in ("one", "two"))
    return [authority.certificate.decode() for authority in made]


def believed(file: CaFile, authorities: list[str]) -> list[bool]:
    known = registry_trust(None, Path(file.path)).get_ca_certs(binary_form=True)
    return [ssl.PEM_cert_to_DER_cert(pem) in known for pem in authorities]


async def test_it_is_renewed_in_place_and_gone_without_certificates(authorities: list[str]) -> None:
    one, two = authorities
    file = CaFile()
    assert not file.path
    assert not await file.write("")
    assert await file.write(f"# Főtanúsítvány\n{one}")
    path = file.path
    assert believed(file, authorities) == [True, False]
    assert not await file.write(f"# Főtanúsítvány\n{one}")
    assert await file.write(one + two)
    assert file.path == path
    assert believed(file, authorities) == [True, True]
    assert await file.write("")
    assert not file.path
    file.close()


async def test_what_is_no_certificate_changes_nothing(authorities: list[str]) -> None:
    file = CaFile()
    await file.write(authorities[0])
    with pytest.raises(TransientError, match="no certificates can be read"):
        await file.write("nonsense")
    assert believed(file, authorities) == [True, False]
    file.close()


async def test_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, authorities: list[str]
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    file = CaFile()
    await file.write(authorities[0])
    with pytest.raises(TransientError):
        await file.write("nonsense")
    assert list(folder.iterdir())
    file.close()
    assert not list(folder.iterdir())
