"""What commands take, cached on disk for the Tab key.

A shell waits for a tenth of a second, and importing a command may take several. So what completion
needs of each is in `XDG_CACHE_HOME/olm` (else ~/.cache), until a file of this package changes.
"""

import hashlib
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import orjson
from click.shell_completion import CompletionItem
from click.types import FuncParamType

from olm_client.user_cache import user_cache
from olm_runtime.cli.command_line import Lazy, LazyGroup

Shape = dict[str, Any]
Load = Callable[[], click.Command]
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_PACKAGE = Path(__file__).parent
_FLAGS = ("is_flag", "multiple", "nargs", "hidden", "help")


def quick_command(lazy: Lazy) -> click.Command:
    """A command to complete for: as it was when it was last imported, else imported now."""
    file = _file()
    shapes = _read(file)
    key = f"{lazy.module}:{lazy.attribute}"
    if key in shapes:
        return restored(shapes[key], lazy.load)
    command = lazy.load()
    if not isinstance(command, LazyGroup):  # such a group is light, and asks for each of its own
        with suppress(OSError, TypeError):  # a disk that is full or cannot be written
            _write(file, {**shapes, key: shape_of(command)})
    return command


def shape_of(command: click.Command) -> Shape:
    """The command as JSON; those below it as well."""
    below = command.commands if isinstance(command, click.Group) else {}
    return {
        "name": command.name,
        "short_help": command.get_short_help_str(),
        "params": [_param_shape(param) for param in command.params],
        "commands": {name: shape_of(each) for name, each in below.items()},
    }


def restored(shape: Shape, load: Load) -> click.Command:
    """A command that completes as the one that `load` imports, and does nothing else."""
    params = [_param(each, load) for each in shape["params"]]
    known = {"name": shape["name"], "short_help": shape["short_help"], "params": params}
    if not shape["commands"]:
        return click.Command(**known)
    commands = {
        name: restored(each, _below(load, name)) for name, each in shape["commands"].items()
    }
    return click.Group(**known, commands=commands)


def _below(load: Load, name: str) -> Load:
    def load_below() -> click.Command:
        group = load()
        assert isinstance(group, click.Group)  # noqa: S101 - it was when its shape was made
        return group.commands[name]

    return load_below


def _param_shape(param: click.Parameter) -> Shape:
    own = getattr(param, "_custom_shell_complete", None)
    convert = param.type.func if isinstance(param.type, FuncParamType) else None
    shape = {
        "class": _reference(type(param)),
        "name": param.name,
        "words": None if own else _words(param),
        "complete": _reference(own),
        "type": _reference(convert),
    }
    if isinstance(param, click.Argument):
        return {**shape, "declared": [param.name], "how": {"nargs": param.nargs, "required": False}}
    names = zip(param.opts, [*param.secondary_opts, *[""] * len(param.opts)], strict=False)
    declared = [f"{name}/{other}" if other else name for name, other in names]
    how = {flag: getattr(param, flag) for flag in _FLAGS}
    return {**shape, "declared": [param.name, *declared], "how": how}


def _words(param: click.Parameter) -> list[tuple[str, str, str]]:
    """What the type of a parameter offers: value, kind and help."""
    ctx = click.Context(click.Command(""))
    found = param.type.shell_complete(ctx, param, "")
    return [(item.value, item.type, item.help or "") for item in found]


def _reference(found: Any) -> str:
    """Where something of ours or of click is defined; empty for what has no name of its own."""
    module, name = getattr(found, "__module__", ""), getattr(found, "__qualname__", "<")
    return (
        f"{module}:{name}" if module.startswith(("olm_cli.", "click.")) and "<" not in name else ""
    )


def _found(reference: str) -> Any:
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def _param(shape: Shape, load: Load) -> click.Parameter:
    how = {**shape["how"], "shell_complete": _complete(shape, load)}
    if shape["type"]:
        how["type"] = _found(shape["type"])
    param: click.Parameter = _found(shape["class"])(shape["declared"], **how)
    return param


def _complete(shape: Shape, load: Load) -> Complete:
    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        if shape["complete"]:
            found: list[CompletionItem] = _found(shape["complete"])(ctx, param, incomplete)
            return found
        if shape["words"] is not None:
            return [*_offered(shape["words"], incomplete)]
        real = next(each for each in load().params if each.name == shape["name"])
        return real.shell_complete(ctx, incomplete)

    return complete


def _offered(words: list[tuple[str, str, str]], incomplete: str) -> Iterator[CompletionItem]:
    for value, kind, said in words:
        if kind != "plain":  # files: the shell knows them
            yield CompletionItem(incomplete, type=kind)
        elif value.startswith(incomplete):
            yield CompletionItem(value, help=said or None)


def _file() -> Path:
    """Where shapes are cached; it has another name once a file of the package is another."""
    state = hashlib.sha256(f"{sys.version}\0{click.__file__}".encode())
    for folder, _, files in os.walk(_PACKAGE):
        for name in sorted(files):
            if name.endswith(".py"):
                path = os.path.join(folder, name)  # noqa: PTH118 - a tenth of the time of a Path
                stat = os.stat(path)  # noqa: PTH116
                state.update(f"\0{path}\0{stat.st_size} {stat.st_mtime_ns}".encode())
    return user_cache() / f"commands-{state.hexdigest()[:32]}.json"


def _read(file: Path) -> Mapping[str, Shape]:
    try:
        found = orjson.loads(file.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(file: Path, shapes: Mapping[str, Shape]) -> None:
    """Replaces the file as a whole, and removes those of other states.

    Raises OSError, TypeError.
    """
    import tempfile  # late: seldom needed

    data = orjson.dumps(shapes)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix="new-", delete=False) as made:
        made.write(data)
    Path(made.name).replace(file)
    for other in file.parent.glob("commands-*.json"):
        if other != file:
            other.unlink(missing_ok=True)
