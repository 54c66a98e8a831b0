"""The classes of the registry API's messages, made of its .proto file by protoc."""

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from grpc_tools import protoc

REGISTRY = Path(__file__).parents[1] / "olm_catalogs" / "registry"
SOURCE = "registry.proto"


def message_files() -> dict[Path, str]:
    """The modules by path. RuntimeError where protoc refuses the source; it says why itself."""
    known = files("grpc_tools") / "_proto"
    with TemporaryDirectory() as folder:
        out = [f"--python_out={folder}", f"--pyi_out={folder}"]
        if protoc.main(["protoc", f"-I{REGISTRY}", f"-I{known}", *out, SOURCE]):
            raise RuntimeError(f"protoc refused {REGISTRY / SOURCE}")
        return {REGISTRY / path.name: path.read_text() for path in sorted(Path(folder).iterdir())}
