"""Which files of certificates count as roots."""

from pathlib import Path

import pytest

from e2e.harness.pki import CertificateAuthority
from olm_runtime.http import trust
from olm_runtime.http.trust import ROOTS_SECONDS, registry_trust, trust_state


def test_files_of_a_folder_count_once_whatever_names_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [CertificateAuthority.load_or_create(tmp_path, name) for name in ("one", "two")]
    folder = tmp_path / "certs"
    folder.mkdir()
    for number, authority in enumerate(made):
        (folder / f"{number}.pem").write_bytes(authority.certificate)
        (folder / f"{number}a{number}b.0").symlink_to(f"{number}.pem")
    (folder / "README").write_text("no certificate")
    (folder / "gone.pem").symlink_to("nowhere")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "0.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    assert len(registry_trust(None).get_ca_certs()) == len(made)
    assert len(trust_state(None)) == len(["0.pem", "1.pem", "README"])


def test_a_root_that_comes_is_noticed_after_seconds_and_a_ca_of_registries_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100 * ROOTS_SECONDS]
    monkeypatch.setattr(trust, "monotonic", lambda: now[0])
    roots, cas = tmp_path / "certs", tmp_path / "cas"
    for folder in (roots, cas):
        folder.mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", str(roots))
    first = trust_state(cas)
    (roots / "new.pem").touch()
    assert trust_state(cas) == first
    (cas / "new.crt").touch()
    second = trust_state(cas)
    assert second != first
    now[0] += ROOTS_SECONDS
    assert trust_state(cas) != second


def test_another_file_of_the_environment_counts_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for name in ("a", "b"):
        pair = CertificateAuthority.create(name).pair
        certificate, _ = pair.write(tmp_path, name)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        seen.append(trust_state(None))
    certificate.write_bytes(b"")
    assert len({*seen, trust_state(None)}) == len(["a", "b", "b, changed"])
