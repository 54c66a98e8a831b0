"""Images from a person's machine: with the logins their container tools keep.

The registry client is imported when it is needed: most commands never do.
"""

import os
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from olm_runtime.errors import TerminalError
from olm_runtime.images.limits import Limits
from olm_runtime.images.reference import ImageRef, parse_ref

if TYPE_CHECKING:
    from olm_runtime.images.oci import Descriptor
    from olm_runtime.registry.image_store import PulledImage
    from olm_runtime.registry.settings import OnBytes, PullSettings

DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registries:
    """How to reach registries: without TLS, whatever their certificate, with CAs of a folder, with
    credentials of one file in place of the user's logins. `bulk` as in PullSettings. `on_bytes` is
    notified of what comes.
    """

    plain_http: bool = False
    skip_tls_verify: bool = False
    cas_dir: Path | None = None
    auth_file: Path | None = None
    bulk: bool = False
    on_bytes: "OnBytes | None" = None

    def settings(self, ref: ImageRef, limits: Limits = DEFAULT_LIMITS) -> "PullSettings":
        """The same for one image. Raises TerminalError for a file or folder that is not there."""
        return self.settings_of({ref.registry}, limits)

    def settings_of(
        self, registries: Iterable[str], limits: Limits = DEFAULT_LIMITS
    ) -> "PullSettings":
        """The same for some registries. Raises TerminalError as `settings`."""
        for given, switch in ((self.auth_file, "logins"), (self.cas_dir, "CA files")):
            if given is not None and not given.exists():
                raise TerminalError(f"{given}: there are no {switch}: no such file or folder")
        from olm_runtime.registry.settings import PullSettings

        here = frozenset(registries)
        return PullSettings(
            cas_dir=self.cas_dir,
            auth_file=self.auth_file,
            login_files=() if self.auth_file else tuple(auth_files(os.environ, Path.home())),
            run_helpers=True,
            plain_http=here if self.plain_http else frozenset(),
            insecure=here if self.skip_tls_verify else frozenset(),
            limits=limits,
            bulk=self.bulk,
            on_bytes=self.on_bytes,
        )


def auth_files(environment: Mapping[str, str], home: Path) -> list[Path]:
    """Files of logins; the first that knows a registry counts.

    The order is that of containers-auth.json(5): the file named, that of `podman login`, that of
    `docker login`.
    """
    named = environment.get("REGISTRY_AUTH_FILE")
    if named:
        return [Path(named)]
    runtime = environment.get("XDG_RUNTIME_DIR")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    docker = Path(environment.get("DOCKER_CONFIG") or home / ".docker")
    return [
        *([Path(runtime, "containers", "auth.json")] if runtime else []),
        config / "containers" / "auth.json",
        docker / "config.json",
    ]


@contextmanager
def pulled(
    reference: str,
    access: Registries,
    *,
    limits: Limits = DEFAULT_LIMITS,
    roots: tuple[str, ...] = (),
) -> Iterator["PulledImage"]:
    """The image on disk, until the context ends; if `roots` are given, only what is below them.

    Raises OLMError.
    """
    import asyncio

    from olm_runtime.images.layers import Rules
    from olm_runtime.registry.image_store import ImageStore

    ref = parse_ref(reference)
    settings = access.settings(ref, limits)
    with tempfile.TemporaryDirectory(prefix="olm-image-") as work:
        store = ImageStore(Path(work), lambda: settings, jitter=random.random)
        with advised(ref.registry):
            rules = Rules(roots=roots)
            pull = store.pull(reference, owner="image", rules_for=lambda *_: rules)
            image = asyncio.run(pull)
        try:
            yield image
        finally:
            store.forget("image")  # its folders are read-only


def fetch_whole(ref: ImageRef, place: Callable[[str], Path], access: Registries) -> "Descriptor":
    """Downloads an image as it is, for every platform (`RegistryClient.fetch_whole`)."""
    import asyncio

    from olm_runtime.registry.client import RegistryClient

    async def run() -> "Descriptor":
        async with RegistryClient(access.settings(ref), jitter=random.random) as registry:
            return await registry.fetch_whole(ref, place)

    with advised(ref.registry):
        return asyncio.run(run())


def push(layout: Path, image: "Descriptor", ref: ImageRef, access: Registries) -> ImageRef:
    """Pushes an image of an OCI image layout; its canonical reference. Raises OLMError."""
    import asyncio

    from olm_runtime.registry.push import RegistryPush

    async def run() -> ImageRef:
        settings = access.settings(ref)
        async with RegistryPush(settings, jitter=random.random) as registry:
            return await registry.push(layout, image, ref)

    with advised(ref.registry):
        return asyncio.run(run())


@contextmanager
def advised(registry: str) -> Iterator[None]:
    """Gives errors the hints that help a person; those of pull_errors are for clusters."""
    from olm_runtime.registry.errors import (
        NoTlsError,
        RegistryError,
        UnauthorizedError,
        UntrustedError,
    )

    try:
        yield
    except UnauthorizedError as error:
        hint = f"log in with `opm login {registry}` or `podman login {registry}`"
        raise UnauthorizedError(error.message, hint=hint) from error
    except UntrustedError as error:
        hint = "name the file of its CA in SSL_CERT_FILE, or add the CA to the system's"
        raise UntrustedError(error.message, hint=hint) from error
    except NoTlsError as error:
        hint = "say that it is to be spoken to without TLS: opm --use-http, olm --plain-http"
        raise RegistryError(error.message, hint=hint) from error
