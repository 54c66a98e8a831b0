"""The TLS settings of a cluster, as configuration files of operators have them.

An APIServer names a profile, or ciphers by the names of OpenSSL; files have those of the IANA.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """The lowest version of TLS, as `VersionTLS12`, and the ciphers by their IANA names, sorted."""

    lowest_version: str
    ciphers: tuple[str, ...]


_IANA_NAMES = {
    "TLS_AES_128_GCM_SHA256": "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384": "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256": "TLS_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-GCM-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305": "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-RSA-CHACHA20-POLY1305": "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "ECDHE-ECDSA-AES128-SHA256": "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "ECDHE-RSA-AES128-SHA256": "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "ECDHE-ECDSA-AES128-SHA": "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "ECDHE-RSA-AES128-SHA": "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "ECDHE-ECDSA-AES256-SHA": "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "ECDHE-RSA-AES256-SHA": "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "AES128-GCM-SHA256": "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "AES256-GCM-SHA384": "TLS_RSA_WITH_AES_256_GCM_SHA384",
    "AES128-SHA256": "TLS_RSA_WITH_AES_128_CBC_SHA256",
    "AES128-SHA": "TLS_RSA_WITH_AES_128_CBC_SHA",
    "AES256-SHA": "TLS_RSA_WITH_AES_256_CBC_SHA",
    "DES-CBC3-SHA": "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
}
"""Of the ciphers that operators written in Go can use; the others of a profile are left out."""


def _settings(lowest_version: str, ciphers: object) -> TlsSettings:
    named = ciphers if isinstance(ciphers, list | tuple) else ()
    return TlsSettings(
        lowest_version, tuple(sorted(_IANA_NAMES[each] for each in named if each in _IANA_NAMES))
    )


_NAMES = tuple(_IANA_NAMES)
_MODERN, _INTERMEDIATE = _NAMES[:3], _NAMES[:9]

_PROFILES = {
    "Old": _settings("VersionTLS10", _NAMES),
    "Intermediate": _settings("VersionTLS12", _INTERMEDIATE),
    "Modern": _settings("VersionTLS13", _MODERN),
}
"""Mozilla's recommendations by the name that they have in an APIServer."""


def tls_settings(profile: Mapping[str, Any] | None) -> TlsSettings:
    """Of the `spec.tlsSecurityProfile` of an APIServer; Intermediate where it says nothing."""
    given = profile or {}
    custom = given.get("custom")
    if given.get("type") == "Custom" and custom:
        return _settings(custom.get("minTLSVersion") or "", custom.get("ciphers"))
    return _PROFILES.get(given.get("type") or "", _PROFILES["Intermediate"])
