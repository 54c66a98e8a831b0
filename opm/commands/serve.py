"""`opm serve`: the registry API of a catalog."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from olm_runtime.cli.collection import collect_as_usual
from olm_runtime.cli.go_command import GoCommand
from olm_runtime.errors import OLMError, TerminalError

if TYPE_CHECKING:
    from olm_catalogs.io.messages import Catalog


@click.command("serve", cls=GoCommand)
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-p", "--port", type=click.IntRange(0, 65535), default=50051, show_default=True)
@click.option(
    "--cache-dir",
    type=click.Path(path_type=Path),
    help="Keep the cache here, so that a restart serves at once.",
)
@click.option("--cache-only", is_flag=True, help="Make the cache and exit.")
@click.option(
    "--cache-enforce-integrity/--no-cache-enforce-integrity",
    default=None,
    help="Fail when the cache is missing or not of this catalog, rather than make it anew.  "
    "[default: with --cache-dir, unless --cache-only]",
)
@click.option(
    "-t",
    "--termination-log",
    type=click.Path(path_type=Path),
    default="/dev/termination-log",
    show_default=True,
    help="File to write the reason of its end to.",
)
@click.option("--debug", is_flag=True, hidden=True)
@click.option("--pprof-addr", hidden=True)
@click.option("--pprof-capture-profiles", is_flag=True, hidden=True)
def serve(
    *,
    source: Path,
    port: int,
    cache_dir: Path | None,
    cache_only: bool,
    cache_enforce_integrity: bool | None,
    termination_log: Path,
    **_: object,
) -> None:
    """Serve the catalog in DIR over gRPC (api.Registry), as OLM Classic's catalog pods do.

    What is served is what DIR holds at the start; later changes are not.

    \b
    Examples:
      opm serve catalog
      opm serve /configs --cache-dir=/tmp/cache --cache-only
      opm serve /configs --cache-dir=/tmp/cache
      grpcurl -plaintext localhost:50051 api.Registry/ListPackages
    """
    enforced = cache_enforce_integrity
    if enforced is None:
        enforced = cache_dir is not None and not cache_only
    with leaving_word(termination_log):
        _run(source, port, cache_dir, cache_only=cache_only, enforced=enforced)


def _run(
    source: Path, port: int, cache_dir: Path | None, *, cache_only: bool, enforced: bool
) -> None:
    if enforced and cache_dir is None:
        raise TerminalError("--cache-dir must be specified with --cache-enforce-integrity")
    if not source.is_dir():
        problem = "is not a directory" if source.exists() else "no such directory"
        raise TerminalError(f"{source}: {problem}", hint="give the catalog's root folder")
    with _folder(cache_dir) as cache:
        catalog = cached(source, cache, enforced=enforced)
        if not cache_only:
            serve_catalog(catalog, port, f"configs={source} cache={cache}")


def cached(source: Path, cache: Path, *, enforced: bool = False) -> "Catalog":
    """The catalog of a folder through its cache, which is made unless it is there and fits.

    Raises TerminalError, also where one would have to be made if its integrity is enforced.
    """
    from olm_catalogs.io.cache import make_cache, open_cache

    try:
        return open_cache(cache, source)
    except TerminalError:
        if enforced:
            raise
        make_cache(cache, source)
        return open_cache(cache, source)


def serve_catalog(catalog: "Catalog", port: int, shown: str) -> None:
    """Serves until a signal ends it; `shown` is part of the line that is printed once it does."""
    import asyncio
    import os

    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # its own log of what we print in a sentence
    from olm_catalogs.io import server

    collect_as_usual()
    asyncio.run(server.serve(catalog, port, _announce(shown)))


@contextmanager
def _folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="opm-serve-cache-") as temporary:
        yield Path(temporary)


def _announce(shown: str) -> Callable[[int], None]:
    def announce(port: int) -> None:
        click.echo(f"serving registry {shown} port={port}", err=True)

    return announce


@contextmanager
def leaving_word(file: Path) -> Iterator[None]:
    """Leaves errors where the kubelet looks for why a container ended.

    Elsewhere there is no such file.
    """
    try:
        yield
    except OLMError as error:
        with suppress(OSError):
            file.write_text(f"{error.describe()}\n")
        raise
