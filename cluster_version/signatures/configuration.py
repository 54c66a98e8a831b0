"""Which keys have to sign, and where signatures are: the verification config map of a release.

Source of the rules: upstream's notes, section 6.1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from api.objects import GVK, KubeObject, annotations_of, gvk_of, name_of, namespace_of
from cluster_version.names import VERIFICATION_CONFIG_MAP
from cluster_version.signatures.errors import SignatureError
from cluster_version.signatures.key_rings import KeyRing, read_key_ring
from olm_content.formats.go_text import quote
from olm_runtime.errors import TerminalError

CONFIG_MAP = GVK("", "v1", "ConfigMap")
KEY_PREFIX, STORE_PREFIX = "verifier-public-key-", "store-"

_SCHEMES = frozenset({"file", "http", "https"})


class ConfigurationError(TerminalError):
    """A verification config map with which nothing could be verified."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What has to have signed a release.

    rings   by name; a key of each of them
    stores  addresses under which signatures are
    """

    rings: Mapping[str, KeyRing]
    stores: tuple[str, ...]


def find_configuration(manifests: Iterable[KubeObject]) -> Configuration | None:
    """The configuration of the first config map of a release that says it has one.

    None where there is none: nothing can be verified then. Raises ConfigurationError.
    """
    for manifest in manifests:
        if gvk_of(manifest) == CONFIG_MAP and VERIFICATION_CONFIG_MAP in annotations_of(manifest):
            source = f"the config map {namespace_of(manifest)}/{name_of(manifest)}"
            return read_configuration(source, manifest.get("data") or {})
    return None


def read_configuration(source: str, data: Mapping[str, str]) -> Configuration:
    """Reads the data of a config map; keys of no meaning are ignored. Raises ConfigurationError."""
    rings, stores = {}, []
    for key, value in sorted(data.items()):
        if key.startswith(KEY_PREFIX):
            rings[key] = _ring(source, key, value)
        elif key.startswith(STORE_PREFIX):
            stores.append(_store(source, key, value.strip()))
    if not stores:
        problem = "did not provide any signature stores to read from and cannot be used"
        raise ConfigurationError(f"{source} {problem}")
    if not rings:
        problem = "did not provide any GPG public keys to verify signatures from"
        raise ConfigurationError(f"{source} {problem} and cannot be used")
    return Configuration(rings, tuple(stores))


def _ring(source: str, key: str, value: str) -> KeyRing:
    try:
        return read_key_ring(value.encode())
    except SignatureError as error:
        problem = f"{source} has an invalid key {quote(key)} that must be a GPG public key"
        raise ConfigurationError(f"{problem}: {error.message}") from error


def _store(source: str, key: str, address: str) -> str:
    try:
        is_known = urlsplit(address).scheme in _SCHEMES
    except ValueError:
        is_known = False
    if not is_known:
        problem = "must be a valid URL with scheme file://, http://, or https://"
        raise ConfigurationError(f"{source} has an invalid key {quote(key)}: {problem}")
    return address
