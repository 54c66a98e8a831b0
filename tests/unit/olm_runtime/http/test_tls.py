"""TLS profiles, judged by real handshakes; and certificates that change."""

import asyncio
import os
import ssl
import subprocess
import sys
import warnings
from importlib.metadata import files
from pathlib import Path

import pytest

from e2e.harness.pki import CertificateAuthority
from olm_runtime.errors import TerminalError
from olm_runtime.http import tls
from olm_runtime.http.tls import ServerTls, TlsProfile, profile_of
from olm_runtime.http.tls_groups import set_groups

POST_QUANTUM = Path(__file__).with_name("post_quantum_curves.py")
AUTHORITY = CertificateAuthority.create("test-ca")
AES256 = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"


def profile(
    name: str = "custom", version: str = "TLSv1.2", ciphers: str = "", curves: str = ""
) -> TlsProfile:
    return profile_of(name, version, ciphers, curves)


def server(folder: Path, wanted: TlsProfile) -> ServerTls:
    return ServerTls(*AUTHORITY.issue_server("s", hosts=["s.test"]).write(folder, "s"), wanted)


def client(authority: CertificateAuthority = AUTHORITY) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority.certificate.decode())


def limited(version: ssl.TLSVersion) -> ssl.SSLContext:
    """A client that speaks one version only."""
    context = client()
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = version
    return context


def shake(served: ServerTls, asking: ssl.SSLContext) -> ssl.SSLObject:
    """Both sides' handshake in memory; the client's end. Raises SSLError."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = served.context.wrap_bio(to_server, to_client, server_side=True)
    theirs = asking.wrap_bio(to_client, to_server, server_hostname="s.test")
    pending = [theirs, ours]
    for _ in range(10):
        for side in tuple(pending):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            pending.remove(side)
    assert not pending
    return theirs


VERSIONS = {v.name: v for v in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1,
                                ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)}  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "lowest"),
    [
        (profile("modern"), "TLSv1_3"),
        (profile("intermediate"), "TLSv1_2"),
        (profile("old"), "TLSv1"),
        (profile(version="TLSv1.3"), "TLSv1_3"),
        (profile(version="TLSv1.2"), "TLSv1_2"),
    ],
)
def test_versions_below_the_profiles_are_refused(
    tmp_path: Path, wanted: TlsProfile, lowest: str
) -> None:
    served = server(tmp_path, wanted)
    for name, version in VERSIONS.items():
        if version < VERSIONS[lowest]:
            with pytest.raises(ssl.SSLError):
                shake(served, limited(version))
        else:
            assert shake(served, limited(version)).version() == name.replace("_", ".")


def test_only_the_ciphers_named_are_taken(tmp_path: Path) -> None:
    asking = limited(ssl.TLSVersion.TLSv1_2)
    chosen = shake(server(tmp_path, profile(ciphers=AES256)), asking).cipher()
    assert chosen is not None
    assert chosen[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"
    asking.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
    with pytest.raises(ssl.SSLError):
        shake(server(tmp_path, profile(ciphers=AES256)), asking)


@pytest.mark.parametrize(
    ("curves", "asked", "fits"),
    [
        ("secp384r1", "secp384r1", True),
        ("secp384r1", "prime256v1", False),
        ("X25519,secp384r1", "secp384r1", True),
        ("X25519, secp256r1", "prime256v1", True),
        ("X25519,prime256v1", "secp521r1", False),
        ("", "secp521r1", True),
    ],
)
def test_only_the_curves_named_are_taken(
    tmp_path: Path, curves: str, asked: str, fits: bool
) -> None:
    served = server(tmp_path, profile(curves=curves))
    asking = limited(ssl.TLSVersion.TLSv1_3)
    asking.set_ecdh_curve(asked)
    if fits:
        assert shake(served, asking).version() == "TLSv1.3"
    else:
        with pytest.raises(ssl.SSLError):
            shake(served, asking)


def test_with_an_openssl_that_has_them(tmp_path: Path) -> None:
    """Post-quantum curves, and all of this file again, with the libraries that a wheel brings."""
    for name in ("libssl", "libcrypto"):
        [library] = [f for f in files("psycopg2-binary") or [] if f.name.startswith(f"{name}-")]
        (tmp_path / f"{name}.so.3").symlink_to(Path(str(library.locate())))
    others = ["-q", "-p", "no:cacheprovider", "-k", "not with_an_openssl"]  # else without end
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *others, str(POST_QUANTUM), __file__],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_curve_that_the_library_lacks_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    set_groups(context, ("P-256", "P-257"))
    assert "does not know TLS curve P-257" in caplog.text
    with pytest.raises(TerminalError, match="knows none of the TLS curves P-257"):
        set_groups(context, ("P-257",))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "modest"}, 'unknown TLS profile: "modest"'),
        ({"version": "TLSv1.4"}, 'unknown TLS version: "TLSv1.4"'),
        ({"ciphers": f"{AES256},NULL"}, "unknown TLS cipher: NULL"),
        ({"curves": "X25519,P-257"}, "unknown TLS curve: P-257"),
    ],
)
def test_unknown_names_are_reported(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        profile(**wrong)


def test_http_2_is_not_offered(tmp_path: Path) -> None:
    asking = client()
    asking.set_alpn_protocols(["h2", "http/1.1"])
    found = shake(server(tmp_path, profile("intermediate")), asking)
    assert found.selected_alpn_protocol() == "http/1.1"


def test_a_certificate_that_changes_is_served_from_the_next_connection_on(tmp_path: Path) -> None:
    served = server(tmp_path, profile("intermediate"))
    other = CertificateAuthority.create("other-ca")
    (tmp_path / "s.crt").write_text("half a file")
    served.reload()
    shake(served, client())  # what cannot be loaded changes nothing
    other.issue_server("s", hosts=["s.test"]).write(tmp_path, "s")
    served.reload()
    shake(served, client(other))
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(served, client())


def test_while_files_do_not_fit_together_the_certificate_of_before_is_served(
    tmp_path: Path,
) -> None:
    served = server(tmp_path, profile("intermediate"))
    key = (tmp_path / "s.key").read_bytes()
    other = CertificateAuthority.create("other-ca")
    other.issue_server("s", hosts=["s.test"]).write(tmp_path, "s")
    new_key = (tmp_path / "s.key").read_bytes()
    (tmp_path / "s.key").write_bytes(key)
    served.reload()
    shake(served, client())
    (tmp_path / "s.key").write_bytes(new_key)
    served.reload()
    shake(served, client(other))


async def test_no_handshake_fails_while_certificates_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tls, "RELOAD_SECONDS", 0)
    served = server(tmp_path, profile("intermediate"))
    others = [AUTHORITY.issue_server("s", hosts=["s.test"]) for _ in range(2)]
    following = asyncio.create_task(served.follow())
    for number in range(200):
        others[number % 2].write(tmp_path, "s")
        for _ in range(3):
            await asyncio.sleep(0)
            shake(served, client())
    following.cancel()


def test_clients_of_catalogd_are_bound_too(tmp_path: Path) -> None:
    asking = client()
    profile("modern").apply(asking)
    served = server(tmp_path, profile("intermediate"))
    served.context.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError):
        shake(served, asking)


def test_files_that_are_no_certificate_name_the_flags(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("")
    with pytest.raises(TerminalError, match="cannot load certificate") as caught:
        ServerTls(tmp_path / "c", tmp_path / "c", profile("intermediate"))
    assert "--tls-cert" in caught.value.hint
