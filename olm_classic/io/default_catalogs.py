"""The manifests of the default CatalogSources, from a folder."""

from pathlib import Path

from api import wire
from api.objects import KubeObject, gvk_of, name_of
from api.operators.v1alpha1.catalogsource import CatalogSource
from olm_classic.kinds import CATALOG_SOURCE
from olm_content.formats.kube_yaml import load_all
from olm_content.formats.yaml_errors import YamlError
from olm_runtime.errors import TerminalError

ENDINGS = (".yaml", ".yml", ".json")
HINT = "--default-catalogs is to name a folder of CatalogSources"


def read_default_catalogs(folder: Path) -> list[KubeObject]:
    """The CatalogSources of a folder's files, by name. Raises TerminalError naming the file."""
    try:
        files = [file for file in folder.iterdir() if file.suffix in ENDINGS and file.is_file()]
        found = {name_of(each): each for file in sorted(files) for each in _read(file)}
    except OSError as error:
        problem = error.strerror or str(error)
        raise TerminalError(f"{error.filename or folder}: {problem}", hint=HINT) from error
    return [found[name] for name in sorted(found)]


def _read(file: Path) -> list[KubeObject]:
    try:
        manifests = list(load_all(file.read_bytes()))
        for manifest in manifests:
            if not isinstance(manifest, dict) or gvk_of(manifest) != CATALOG_SOURCE:
                raise TerminalError(f"{file}: it is not all CatalogSources", hint=HINT)
            wire.read_object(CatalogSource, manifest, api_version=CATALOG_SOURCE.api_version)
    except (YamlError, wire.InvalidObjectError) as error:
        raise TerminalError(f"{file}: {error}", hint=HINT) from error
    return manifests
