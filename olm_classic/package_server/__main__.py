"""Start-up of package-server: every replica serves, and keeps the certificate."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from api.objects import KubeObject
from api.operators.v1.olmconfig import SINGLETON
from olm_classic.kinds import OLM_CONFIG
from olm_classic.package_manifests.shelf import Shelf
from olm_classic.package_server.app import api
from olm_classic.package_server.catalogs import LONGEST_RETRY_SECONDS, Catalogs
from olm_classic.package_server.settings import (
    NAME,
    CertificateFiles,
    OwnCertificate,
    Settings,
    parse_settings,
)
from olm_classic.package_server.sync import sync_seconds
from olm_runtime.aggregation.authentication import Authenticator
from olm_runtime.aggregation.authorization import Authorizer
from olm_runtime.aggregation.guard import Guard
from olm_runtime.certificates import serving
from olm_runtime.certificates.issuer import issuer
from olm_runtime.certificates.rotation import Rotation
from olm_runtime.certificates.wanted import ServingCertificate
from olm_runtime.clocks import steady_clock, utc_now
from olm_runtime.http.asgi import Asgi, Receive, Scope, Send
from olm_runtime.http.health import health_pages, health_routes, serve_health
from olm_runtime.http.server import listen
from olm_runtime.http.server import serve as serve_http
from olm_runtime.http.tls import ServerTls
from olm_runtime.kube.access import load_access
from olm_runtime.kube.client import KubeClient
from olm_runtime.logs import configure_logging
from olm_runtime.memory import keep_small, share_one_arena
from olm_runtime.program import run
from olm_runtime.proxies import read_proxies
from olm_runtime.watch.informer import Hooks, Informer, Selection
from olm_runtime.watch.store import Store

if TYPE_CHECKING:  # imported once metrics are asked for: it takes time and memory
    from prometheus_client.metrics_core import Metric

PROBES = ("/healthz", "/readyz", "/livez")
METRICS = "/metrics"


def main(settings: Settings) -> None:
    """The console script `package-server`."""
    share_one_arena()
    configure_logging(settings.log_level, settings.log_format)
    run(lambda: serve(settings))


async def serve(settings: Settings) -> None:
    """Runs until cancelled."""
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(_client(settings.kubeconfig))
        asked = [
            await stack.enter_async_context(_client(file)) if file else client
            for file in (settings.authentication, settings.authorization)
        ]
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="olm-")))
        process = _Process(settings, client, authentication=asked[0], authorization=asked[1])
        async with asyncio.TaskGroup() as group:
            await process.start(group, folder)


def _client(kubeconfig: str | None) -> contextlib.AbstractAsyncContextManager[KubeClient]:
    return KubeClient.connect(load_access(kubeconfig))


class _Process:
    """All parts of the process."""

    def __init__(
        self,
        settings: Settings,
        client: KubeClient,
        *,
        authentication: KubeClient,
        authorization: KubeClient,
    ) -> None:
        self._settings = settings
        self._client = client
        self._shelf = Shelf(settings.global_namespace)
        self._catalogs = Catalogs(
            client,
            self._shelf,
            sync_seconds=settings.sync_seconds,
            clock=utc_now,
            proxies=read_proxies(os.environ),
        )
        self._authenticator = Authenticator(
            authentication,
            front_proxy=settings.front_proxy,
            client_authorities=settings.client_authorities,
            remember_seconds=settings.remember_seconds,
            clock=utc_now,
        )
        self._authorizer = Authorizer(
            authorization,
            allowed_seconds=settings.allowed_seconds,
            denied_seconds=settings.denied_seconds,
            always_allowed=settings.always_allowed,
            clock=steady_clock(),
        )
        self._alive = {"serving": lambda: True}
        self._ready = {
            "catalogs": lambda: self._catalogs.is_ready,
            "callers": lambda: self._authenticator.is_ready,
        }

    async def start(self, group: asyncio.TaskGroup, folder: Path) -> None:
        """Begins all work; the API is served once there is a certificate. Raises OLMError."""
        settings = self._settings
        for work in (
            self._catalogs.run(),
            self._authenticator.follow(),
            self._follow_config(),
            serve_health(settings.health_address, alive=self._alive, ready=self._ready),
            keep_small(),
        ):
            group.create_task(work)
        if settings.metrics_address is not None:
            listener = listen(settings.metrics_address)
            group.create_task(serve_http(self._metrics(), listener, None))
        listener = listen(settings.address)
        files = await self._certificate(group, folder)
        tls = ServerTls(files.certificate, files.key, settings.tls_profile)
        self._authenticator.ask_for_certificates(tls.context)
        group.create_task(tls.follow())
        guarded = Guard(self._pages(), self._authenticator, self._authorizer)
        group.create_task(serve_http(guarded, listener, tls.context))

    async def _certificate(self, group: asyncio.TaskGroup, folder: Path) -> CertificateFiles:
        wanted = self._settings.certificate
        if isinstance(wanted, CertificateFiles):
            return wanted
        namespace, folder = self._settings.system_namespace, wanted.folder or folder
        certificate = _serving_certificate(wanted, namespace)
        rotation = Rotation(issuer(wanted.lifetime, f"{NAME} CA"), wanted.settle, utc_now)
        keeper = serving.CertificateIssuer(
            self._client, namespace, [certificate], rotation=rotation, field_manager=NAME
        )
        files = serving.CertificateFiles(
            self._client, namespace, [certificate], folder, settle=wanted.settle
        )
        group.create_task(keeper.run())
        group.create_task(files.follow())
        await files.complete.wait()
        written = folder / wanted.secret
        return CertificateFiles(written / "tls.crt", written / "tls.key")

    def _pages(self) -> Asgi:
        """The API, and the probes and metrics that each API server has next to it."""
        probes = health_pages(alive=self._alive, ready=self._ready)
        app, metrics = api(self._shelf, utc_now), self._metrics()

        async def pages(scope: Scope, receive: Receive, send: Send) -> None:
            chosen: Asgi = app
            if scope["path"] in PROBES:
                chosen = probes
                scope = {**scope, "path": scope["path"].replace("livez", "healthz")}
            elif scope["path"] == METRICS:
                chosen = metrics
            await chosen(scope, receive, send)

        return pages

    def _metrics(self) -> Asgi:
        from olm_runtime.http.metrics_page import metrics_page

        return metrics_page(
            self._families, None, health_routes(alive=self._alive, ready=self._ready)
        )

    def _families(self) -> "Iterator[Metric]":
        from olm_classic.package_server.exposition import Readings, families

        counts, states = self._shelf.counts(), self._catalogs.states()
        return families(Readings(counts, states, self._client.answers))

    async def _follow_config(self) -> None:
        """Reads catalogs as often as OLMConfig says, until cancelled."""
        store: Store[KubeObject] = Store(lambda obj: obj)

        async def stored() -> None:
            config = store.get(SINGLETON)
            self._catalogs.sync_every(sync_seconds(config, self._settings.sync_seconds))

        hooks = Hooks(stored, delay=lambda _: LONGEST_RETRY_SECONDS)
        await Informer(self._client, Selection(OLM_CONFIG), store, hooks).run()


def _serving_certificate(wanted: OwnCertificate, namespace: str) -> ServingCertificate:
    service = f"{wanted.service}.{namespace}"
    return ServingCertificate(
        wanted.secret,
        (f"{service}.svc", f"{service}.svc.cluster.local"),
        api_services=(wanted.api_service,) if wanted.api_service else (),
    )


if __name__ == "__main__":
    main(parse_settings())
