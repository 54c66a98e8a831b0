"""TLS of our servers: Mozilla's profiles, and certificates that are reloaded when they change."""

import asyncio
import logging
import ssl
import warnings
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from olm_runtime.chain_file import chain_file
from olm_runtime.errors import TerminalError
from olm_runtime.http.tls_groups import set_groups

RELOAD_SECONDS = 5.0

VERSIONS = {
    "TLSv1.0": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}

_GO_TO_OPENSSL = {
    f"TLS_ECDHE_{auth}_WITH_{go}": f"ECDHE-{auth}-{openssl}"
    for auth in ("ECDSA", "RSA")
    for go, openssl in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
        ("CHACHA20_POLY1305", "CHACHA20-POLY1305"),
        ("AES_128_CBC_SHA256", "AES128-SHA256"),
        ("AES_128_CBC_SHA", "AES128-SHA"),
        ("AES_256_CBC_SHA", "AES256-SHA"),
    )
} | {
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_RSA_WITH_AES_256_GCM_SHA384": "AES256-GCM-SHA384",
    "TLS_RSA_WITH_AES_128_CBC_SHA256": "AES128-SHA256",
    "TLS_RSA_WITH_AES_128_CBC_SHA": "AES128-SHA",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
}
"""Go's names of cipher suites up to TLS 1.2. Those of TLS 1.3 cannot be chosen, as in Go."""

_CURVES = {
    "X25519MLKEM768": "X25519MLKEM768",
    "X25519": "X25519",
    "prime256v1": "P-256",
    "secp256r1": "P-256",
    "secp384r1": "P-384",
    "secp521r1": "P-521",
    "SecP256r1MLKEM768": "SecP256r1MLKEM768",
    "SecP384r1MLKEM1024": "SecP384r1MLKEM1024",
}
"""Names of groups for key exchange, as flags and as OpenSSL have them."""

_NO_SECURITY_LEVEL = "@SECLEVEL=0"
"""Versions below 1.2 sign with SHA-1, which OpenSSL 3 refuses at any higher level."""

_TLS13_SUITES = frozenset(
    {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
)

_INTERMEDIATE = (
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
)
_OLD = (*_INTERMEDIATE, *(c for c in _GO_TO_OPENSSL.values() if c not in _INTERMEDIATE))

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TlsProfile:
    """The lowest version, the suites for versions up to 1.2 and the groups, best first.

    None named: OpenSSL's own.
    """

    minimum: ssl.TLSVersion
    ciphers: tuple[str, ...] = ()
    curves: tuple[str, ...] = ()

    def apply(self, context: ssl.SSLContext) -> None:
        """Binds a context of a server or a client to this profile.

        Raises TerminalError when the library knows none of the curves.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # they were asked for by name
            context.minimum_version = self.minimum
        if self.ciphers:
            old = self.minimum < ssl.TLSVersion.TLSv1_2
            context.set_ciphers(":".join((*self.ciphers, *([_NO_SECURITY_LEVEL] if old else []))))
        if self.curves:
            set_groups(context, self.curves)


PROFILES = {
    "modern": TlsProfile(ssl.TLSVersion.TLSv1_3),
    "intermediate": TlsProfile(ssl.TLSVersion.TLSv1_2, _INTERMEDIATE),
    "old": TlsProfile(ssl.TLSVersion.TLSv1, _OLD),
}


def named_profile(name: str) -> TlsProfile:
    """One of Mozilla's profiles. Raises ValueError."""
    try:
        return PROFILES[name]
    except KeyError:
        raise ValueError(f'unknown TLS profile: "{name}"') from None


def custom_profile(version: str, ciphers: str, curves: str) -> TlsProfile:
    """A profile from a version and comma lists in upstream's names. Raises ValueError."""
    if version not in VERSIONS:
        raise ValueError(f'unknown TLS version: "{version}"; one of {", ".join(VERSIONS)}')
    suites = _named("cipher", ciphers, {*_GO_TO_OPENSSL, *_TLS13_SUITES})
    groups = _named("curve", curves, _CURVES)
    return TlsProfile(
        VERSIONS[version],
        tuple(_GO_TO_OPENSSL[suite] for suite in suites if suite in _GO_TO_OPENSSL),
        tuple(_CURVES[group] for group in groups),
    )


def profile_of(name: str, version: str, ciphers: str, curves: str) -> TlsProfile:
    """The profile that flags ask for; all but `name` count for `custom` only. Raises ValueError."""
    return custom_profile(version, ciphers, curves) if name == "custom" else named_profile(name)


def _named(what: str, text: str, known: Container[str]) -> list[str]:
    names = [name for name in map(str.strip, text.split(",")) if name]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"unknown TLS {what}: {', '.join(unknown)}")
    return names


class ServerTls:
    """A server context whose certificate follows its files. New connections see the new one."""

    def __init__(
        self, certificate: Path, key: Path, profile: TlsProfile, client_ca: Path | None = None
    ) -> None:
        """Clients may show certificates of `client_ca`, which is read once.

        Raises TerminalError when the files are no certificate and key, or no CA.
        """
        self._files = certificate, key
        self._seen = self._stamp()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        profile.apply(self.context)
        self.context.set_alpn_protocols(["http/1.1"])
        try:
            self.context.load_cert_chain(certificate, key)
        except (OSError, ssl.SSLError) as error:
            raise TerminalError(
                f"cannot load certificate {certificate} and key {key}: {error}",
                hint="give PEM files that belong together with --tls-cert and --tls-key",
            ) from error
        if client_ca is not None:
            self._ask_for_certificates(client_ca)

    def _ask_for_certificates(self, client_ca: Path) -> None:
        try:
            self.context.load_verify_locations(client_ca)
        except (OSError, ssl.SSLError) as error:
            raise TerminalError(
                f"cannot load CA {client_ca}: {error}", hint="give a PEM file with --client-ca"
            ) from error
        self.context.verify_mode = ssl.CERT_OPTIONAL
        self.context.num_tickets = 0  # a session that is taken up again would show no certificate

    async def follow(self) -> None:
        """Reloads until cancelled. Files that do not fit together are tried again later.

        In no thread of its own: a handshake between a certificate and its key would fail.
        """
        while True:
            await asyncio.sleep(RELOAD_SECONDS)
            self.reload()

    def reload(self) -> None:
        """Loads the files if they changed. Call it where handshakes are made."""
        stamp = self._stamp()
        if stamp == self._seen:
            return
        try:
            self._load()
        except (OSError, ssl.SSLError) as error:
            log.warning("certificate %s changed but cannot be loaded: %s", self._files[0], error)
        else:
            self._seen = stamp
            log.info("certificate %s reloaded", self._files[0])

    def _load(self) -> None:
        """Tries them elsewhere first: what fails leaves a context with a certificate, and no key.

        Raises OSError, SSLError.
        """
        certificate, key = (file.read_bytes() for file in self._files)
        with chain_file(certificate) as chain, chain_file(key) as key_file:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(chain, key_file)
            self.context.load_cert_chain(chain, key_file)

    def _stamp(self) -> tuple[tuple[int, int, int], ...]:
        """What changes when a file is replaced, also by a symbolic link as Secrets are mounted."""
        try:
            stats = [file.stat() for file in self._files]
        except OSError:
            return ()
        return tuple((s.st_ino, s.st_mtime_ns, s.st_size) for s in stats)
