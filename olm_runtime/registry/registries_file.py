"""Reads registries.conf where container tools have it; at each pull, so changes count at once."""

import os
from pathlib import Path

from olm_runtime.images.registries_conf import RegistriesConf, RegistriesConfError, parse_registries

VARIABLE = "CONTAINERS_REGISTRIES_CONF"
SYSTEM_FILE = Path("/etc/containers/registries.conf")
MAX_FILE_BYTES = 1 << 20


def read_registries(file: Path | None = None) -> RegistriesConf:
    """The rules of a file and of the folder `FILE.d` next to it, in order of names.

    Without `file`: what CONTAINERS_REGISTRIES_CONF names, else the system's. Files that are not
    there say nothing. Blocking. Raises RegistriesConfError.
    """
    main = file or Path(os.environ.get(VARIABLE) or SYSTEM_FILE)
    folder = main.with_name(f"{main.name}.d")
    try:
        extra = sorted(folder.glob("*.conf"))
        return parse_registries(
            (str(path), _text(path)) for path in (main, *extra) if path.is_file()
        )
    except (OSError, UnicodeDecodeError) as error:
        raise RegistriesConfError(f"{main} cannot be read: {error}") from error


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise RegistriesConfError(f"{path} is larger than {MAX_FILE_BYTES} bytes")
    return path.read_text()
