"""Which certificates of registries are believed: the system's roots and a folder of CAs."""

import ssl
from pathlib import Path

from olm_shared.errors import TransientError

CA_SUFFIXES = (".crt", ".pem", ".cer")


def registry_trust(cas_dir: Path | None) -> ssl.SSLContext:
    """A client context: system roots (SSL_CERT_FILE and SSL_CERT_DIR count) plus `cas_dir`.

    Raises TransientError naming the file that is no certificate.
    """
    context = ssl.create_default_context()
    if cas_dir is None:
        return context
    try:
        files = sorted(p for p in cas_dir.iterdir() if p.suffix in CA_SUFFIXES and p.is_file())
    except OSError as error:
        raise TransientError(f"cannot read the folder of registry CAs: {error}") from error
    for file in files:
        try:
            context.load_verify_locations(cafile=file)
        except (OSError, ssl.SSLError) as error:
            raise TransientError(
                f"cannot read registry CA {file}: {error}", hint="it must be PEM certificates"
            ) from error
    return context
