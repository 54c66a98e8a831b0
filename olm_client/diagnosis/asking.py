"""Questions that are no lists: to catalogd, to registries, and which rights the user has."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from api.objects import KubeObject, name_of
from api.olm.v1 import names
from olm_client.diagnosis.facts import Answer, Fact, Lack, Right, Snapshot
from olm_client.diagnosis.programs import CATALOGD, CONTROLLER, namespaces_of
from olm_client.diagnosis.references import image_of, registry_of
from olm_client.lifecycle.overview import Phase, catalog_state
from olm_runtime.errors import OLMError, bounded
from olm_runtime.http.proxied import http_client
from olm_runtime.http.transport_faults import causes, reason
from olm_runtime.http.trust import registry_trust
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.cluster_access import ClusterAccess
from olm_runtime.kube.errors import ApiError
from operator_controller.io.catalog_addresses import proxy_path, server_of

TIMEOUT = httpx.Timeout(5.0, connect=3.0)
MOST_REGISTRIES = 20

_WRITES = ("create", "patch", "delete")
_RIGHTS: tuple[tuple[str, str, str, str], ...] = (
    *(
        ("list", f"{kind}.{names.GROUP}", "", "olm status, plan, why")
        for kind in ("clusterextensions", "clustercatalogs")
    ),
    *(
        (verb, f"clusterextensions.{names.GROUP}", "", "olm install, uninstall, rollback")
        for verb in _WRITES
    ),
    ("create", "clusterrolebindings.rbac.authorization.k8s.io", "", "olm install"),
    ("get", "secrets", CONTROLLER.name, "olm status EXTENSION, uninstall --preview, rollback"),
    ("get", "services/proxy", CATALOGD.name, "olm search, show, graph, plan, why"),
)
"""Verb, resource, the program in whose namespace it is needed, and for which commands."""


async def ask_catalogd(
    snapshot: Snapshot, access: ClusterAccess, cas: Path | None, *, allow_http: bool
) -> Snapshot:
    """With catalogd's answers, one for each catalog that says where it is served.

    An address without TLS is refused, as operator-controller does, but with `allow_http`.
    """
    served = [(name_of(obj), _base(obj)) for obj in snapshot.all(Fact.CATALOGS) if _base(obj)]
    if not served:
        return snapshot
    authorization = access.authorization()
    headers = {"Authorization": authorization} if authorization else {}
    try:
        direct_trust = registry_trust(cas)
    except OLMError as error:
        lack = Lack("catalogd could not be asked", error.message)
        return replace(snapshot, lacks={**snapshot.lacks, Fact.ANSWERS: [lack]})
    async with (
        http_client(TIMEOUT, origin=access.tls()) as through,
        http_client(TIMEOUT, origin=direct_trust) as direct,
    ):

        async def one(name: str, base: str) -> Answer:
            try:
                server_of(name, base, allow_http=allow_http)
            except OLMError as error:
                return Answer(name, base, fault=error.message)
            path = proxy_path(base)
            if path is None:
                return await _ask(direct, name, f"{base}/api/v1/all")
            address = f"{access.server}{path}/api/v1/all"
            return replace(await _ask(through, name, address, headers), proxied=True)

        answers = await asyncio.gather(*(one(*each) for each in served))
    return replace(snapshot, answers=answers)


async def ask_registries(snapshot: Snapshot) -> Snapshot:
    """With the answers of registries, as they are from here, of catalogs that cannot be pulled."""
    failing = {registry_of(image_of(obj)) for obj in snapshot.all(Fact.CATALOGS) if _fails(obj)}
    hosts = sorted(filter(None, failing))[:MOST_REGISTRIES]
    if not hosts:
        return snapshot
    try:
        trust = registry_trust(None)
    except OLMError as error:
        lack = Lack("registries could not be asked", error.message)
        return replace(snapshot, lacks={**snapshot.lacks, Fact.REGISTRIES: [lack]})
    async with http_client(TIMEOUT, origin=trust) as http:
        answers = await asyncio.gather(
            *(_ask(http, host, f"https://{host}/v2/", method="GET") for host in hosts)
        )
    return replace(snapshot, registries=answers)


def _fails(catalog: KubeObject) -> bool:
    return catalog_state(catalog).phase in (Phase.BLOCKED, Phase.RETRYING)


def _base(catalog: KubeObject) -> str:
    off = (catalog.get("spec") or {}).get("availabilityMode") == "Unavailable"
    urls = (catalog.get("status") or {}).get("urls") or {}
    return "" if off else str(urls.get("base") or "")


async def _ask(
    http: httpx.AsyncClient,
    subject: str,
    address: str,
    headers: dict[str, str] | None = None,
    method: str = "HEAD",
) -> Answer:
    try:
        answer = await http.request(method, address, headers=headers)
    except (httpx.HTTPError, OLMError, OSError, ValueError) as error:
        untrusted = any("CERTIFICATE_VERIFY_FAILED" in str(each) for each in causes(error))
        return Answer(subject, address, fault=bounded(reason(error)), untrusted=untrusted)
    return Answer(subject, address, answer.status_code)


async def ask_rights(snapshot: Snapshot, kube: KubeClient) -> Snapshot:
    """With the rights that commands need, by SelfSubjectAccessReviews, which write nothing."""
    places = {each.name: namespaces_of(snapshot, each)[0] for each in (CONTROLLER, CATALOGD)}

    async def one(verb: str, resource: str, program: str, commands: str) -> Right:
        namespace = places.get(program, "")
        allowed = await _allowed(kube, verb, resource, namespace)
        return Right(verb, resource, namespace, allowed, commands)

    try:
        found = await asyncio.gather(*(one(*each) for each in _RIGHTS))
    except ApiError as error:
        lack = Lack("your rights are not known", error.message)
        return replace(snapshot, lacks={**snapshot.lacks, Fact.RIGHTS: [lack]})
    return replace(snapshot, rights=found)


async def _allowed(kube: KubeClient, verb: str, resource: str, namespace: str) -> bool:
    named, _, group = resource.partition(".")
    plural, _, subresource = named.partition("/")
    attributes: dict[str, Any] = {
        "verb": verb,
        "group": group,
        "resource": plural,
        "subresource": subresource,
        "namespace": namespace,
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    answer = await kube.request("POST", path, body=review)
    return bool((answer.get("status") or {}).get("allowed"))
