"""Which files of certificates count as roots."""

from pathlib import Path

import pytest

from e2e.harness.pki import CertificateAuthority
from olm_runtime.http.trust import registry_trust, trust_state


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
