"""`olm cluster release verify`: whether a release image is signed."""

import random
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cluster_version.payload.summary import summary
from olm_cli.cluster_options import ClusterCommand, reach_options
from olm_cli.lifecycle.interrupt import run
from olm_cli.registry_options import registry_options
from olm_client.bundle_files import registries
from olm_client.cluster.release.reading import read_release_image, release_errors
from olm_client.reach import Reach, cluster
from olm_runtime.errors import TerminalError, of_system
from olm_runtime.images.reference import ImageRef, parse_ref
from olm_runtime.registry.workstation import Registries, advised

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("verify", cls=ClusterCommand)
@click.argument("image")
@click.option(
    "--by",
    "release",
    metavar="RELEASE",
    help="Image or folder of a release whose keys and stores count, in place of the cluster's.",
)
@click.option("--key", "keys", multiple=True, type=_FILE, help="Public keys, one of which counts.")
@click.option("--store", "stores", multiple=True, metavar="URL", help="Where signatures are.")
@registry_options
@reach_options
def verify(
    *,
    image: str,
    release: str | None,
    keys: Sequence[Path],
    stores: Sequence[str],
    reach: Reach,
    **given: Any,
) -> None:
    """Check whether the release IMAGE is signed as the cluster wants it.

    The cluster's running release says which keys have to have signed, and where signatures are.
    --by takes those of another release; --key and --store need no cluster either, and each --key
    has to have signed.

    \b
    Examples:
      olm cluster release verify registry.example.com/product@sha256:...
      olm cluster release verify registry.example.com/product:1.0.1 \\
        --key release.asc --store https://mirror.example.com/signatures
    """
    if bool(keys) != bool(stores) or (keys and release):
        raise click.UsageError("give --key and --store together, or --by, or none of them")
    access = registries(given)
    ref = parse_ref(image)
    pinned = ref if ref.digest else _resolved(ref, access)
    with _verification_errors():
        if release or keys:
            rings = run(_without_cluster(pinned.digest, release, keys, stores, access))
        else:
            rings = run(_by_cluster(reach, pinned.digest))
    click.echo(f"{pinned.canonical(pinned.digest)} is signed: {', '.join(sorted(rings))}")


def _resolved(ref: ImageRef, access: Registries) -> ImageRef:
    """The digest that a tag means at the moment. Raises OLMError."""
    from olm_runtime.registry.client import RegistryClient

    async def resolve() -> ImageRef:
        async with RegistryClient(access.settings(ref), jitter=random.random) as client:
            return await client.resolve(ref)

    with advised(ref.registry):
        return run(resolve())


def _without_cluster(
    digest: str,
    release: str | None,
    keys: Sequence[Path],
    stores: Sequence[str],
    access: Registries,
) -> Coroutine[Any, Any, Sequence[str]]:
    """Verifies without a cluster; gives the names of the rings that signed. Raises OLMError."""
    from olm_client.cluster.release import verifying

    if release is not None:
        found = read_release_image(release, access)
        with release_errors(release):
            summary(found.files)
        return verifying.by_release(found.files, digest, access.cas_dir)
    try:
        read = {str(file): file.read_bytes() for file in keys}
    except OSError as error:
        raise of_system(error) from error
    return verifying.by_keys(read, stores, digest, access.cas_dir)


@contextmanager
def _verification_errors() -> Iterator[None]:
    """Reports what was tried, too. Raises TerminalError in place of VerificationError."""
    from cluster_version.signatures.errors import VerificationError
    from cluster_version.signatures.stores import ONE_AFTER_ANOTHER

    try:
        yield
    except VerificationError as error:
        tried = "".join(
            f"\n  {cause}"
            for cause in dict.fromkeys(error.causes)
            if not cause.startswith(ONE_AFTER_ANOTHER)
        )
        raise TerminalError(f"{error.message}{tried}") from error


async def _by_cluster(reach: Reach, digest: str) -> Sequence[str]:
    from olm_client.cluster.release import verifying

    async with cluster(reach) as client:
        return await verifying.by_cluster(client, digest)
