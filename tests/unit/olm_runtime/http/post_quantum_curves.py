"""Curves that Python's own OpenSSL may lack: run by test_tls.py with one that has them."""

import ssl
from pathlib import Path

import pytest

from olm_runtime.http.tls import TlsProfile
from olm_runtime.http.tls_groups import set_groups
from tests.unit.olm_runtime.http.test_tls import client, profile, server, shake

HYBRID = "X25519MLKEM768"


@pytest.mark.parametrize(
    ("wanted", "asked", "fits"),
    [
        (profile("modern"), HYBRID, True),
        (profile("intermediate"), HYBRID, True),
        (profile(curves=HYBRID), HYBRID, True),
        (profile(curves=HYBRID), "X25519", False),
        (profile(curves=f"{HYBRID},X25519"), "X25519", True),
        (profile(curves="X25519"), HYBRID, False),
        (profile(curves="SecP256r1MLKEM768"), "SecP256r1MLKEM768", True),
        (profile(curves="SecP384r1MLKEM1024"), "SecP384r1MLKEM1024", True),
    ],
)
def test_post_quantum_curves(tmp_path: Path, wanted: TlsProfile, asked: str, fits: bool) -> None:
    asking = client()
    set_groups(asking, (asked,))
    if fits:
        assert shake(server(tmp_path, wanted), asking).version() == "TLSv1.3"
    else:
        with pytest.raises(ssl.SSLError):
            shake(server(tmp_path, wanted), asking)
