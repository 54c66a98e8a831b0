"""Catalogs: catalogd and whom it is trusted by, what it serves, registries. Pure."""

from collections.abc import Iterator

from api.objects import KubeObject, condition, key_of, name_of, namespace_of
from api.olm.v1 import names
from api.olm.v1.kinds import CATALOG
from olm_client.diagnosis.commands import commands_in, patch
from olm_client.diagnosis.facts import Answer, Fact, Snapshot
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.programs import CATALOGD, CONTROLLER, deployments_of, namespaces_of
from olm_client.diagnosis.references import (
    Named,
    certificates_at,
    flag_values,
    image_of,
    registry_of,
)
from olm_client.diagnosis.tls import certificate_of, is_signed_by_any, trusted_in
from olm_client.diagnosis.words import counted
from olm_client.lifecycle.overview import Phase, catalog_state

_FORBIDDEN, _NOT_FOUND, _NO_ENDPOINTS = 403, 404, 503


def catalogd(snapshot: Snapshot) -> Iterator[Finding]:
    """Whether catalogd answers, for each catalog that says where it is served."""
    for answer in snapshot.answers:
        yield from _answered(snapshot, answer)


def _answered(snapshot: Snapshot, answer: Answer) -> Iterator[Finding]:
    namespace = namespaces_of(snapshot, CATALOGD)[0]
    key = key_of({**_OF_CATALOG, "metadata": {"name": answer.subject}})
    where = f"catalogd does not serve catalog {answer.subject}"
    if answer.status == _FORBIDDEN and answer.proxied:
        yield Finding(
            Severity.UNKNOWN,
            f"whether catalogd serves catalog {answer.subject} could not be found out",
            key,
            why=f"you lack the right to get services/proxy in namespace {namespace}",
        )
    elif answer.untrusted and not answer.proxied:
        yield Finding(
            Severity.UNKNOWN,
            f"whether catalogd serves catalog {answer.subject} could not be found out",
            key,
            why=f"its certificate is not trusted here: {answer.fault}",
            remedies=(Remedy("name its CA", ("olm doctor --catalogd-cas-dir FOLDER",)),),
        )
    elif answer.fault or answer.status >= 400:
        why = answer.fault or f"{answer.address} answers {answer.status}"
        if answer.status == _NO_ENDPOINTS and answer.proxied:
            why = "its Service has no endpoint that is ready"
        look = f"kubectl --namespace {namespace} get pods,endpointslices"
        logs = f"kubectl --namespace {namespace} logs deployment/{CATALOGD.deployment} --tail=50"
        yield Finding(
            Severity.ERROR,
            where,
            key,
            why=why,
            remedies=(Remedy("see whether it runs, and what it says", (look, logs)),),
        )


_OF_CATALOG: KubeObject = {"apiVersion": CATALOG.api_version, "kind": CATALOG.kind}


def catalogd_well(snapshot: Snapshot) -> str:
    """In a line."""
    if not snapshot.answers:
        return "no catalog is served"
    ways = {"through the API server" if each.proxied else "directly" for each in snapshot.answers}
    served = counted(len(snapshot.answers), "catalog")
    return f"catalogd serves {served}, asked {' and '.join(sorted(ways))}"


def certificates(snapshot: Snapshot) -> Iterator[Finding]:
    """Whether operator-controller trusts the certificate that catalogd serves with."""
    for serving in deployments_of(snapshot, CATALOGD):
        secrets = [
            secret
            for path in flag_values(serving, "tls-cert")
            for secret in _found(snapshot, certificates_at(serving, path))
        ]
        for asking in deployments_of(snapshot, CONTROLLER):
            for secret in secrets:
                yield from _trust(snapshot, asking, secret)


def _found(snapshot: Snapshot, named: list[Named]) -> list[KubeObject]:
    found = (
        snapshot.find(Fact.CERTIFICATES, each.kind, each.name, each.namespace) for each in named
    )
    return [obj for obj in found if obj is not None]


def _trust(snapshot: Snapshot, asking: KubeObject, secret: KubeObject) -> Iterator[Finding]:
    certificate = certificate_of(secret)
    place = f"Secret {namespace_of(secret)}/{name_of(secret)}"
    renew = Remedy(
        "have it issued anew",
        (f"kubectl delete secret {name_of(secret)} --namespace {namespace_of(secret)}",),
    )
    if certificate is None:
        yield Finding(
            Severity.ERROR,
            f"catalogd has no certificate to serve with: {place} holds none",
            key_of(secret),
            remedies=(renew,),
        )
        return
    if certificate.not_valid_after_utc <= snapshot.now:
        yield Finding(
            Severity.ERROR,
            "the certificate that catalogd serves with has expired",
            key_of(secret),
            why=f"{place} ended at {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC",
            remedies=(renew,),
        )
    sources = [
        source
        for path in flag_values(asking, "catalogd-cas-dir")
        for source in _found(snapshot, certificates_at(asking, path))
    ]
    trusted = [authority for source in sources for authority in trusted_in(source)]
    if trusted and not is_signed_by_any(certificate, trusted):
        named = ", ".join(f"{s['kind']} {namespace_of(s)}/{name_of(s)}" for s in sources)
        yield Finding(
            Severity.ERROR,
            "operator-controller does not trust the certificate that catalogd serves with: "
            "it can read no catalog",
            key_of(secret),
            why=f"{place} is signed by {certificate.issuer.rfc4514_string() or 'an unnamed CA'}, "
            f"which is not among the CAs in {named}",
            remedies=(
                _copy(secret, sources[0]) if sources[0] != secret else renew,
                *((renew,) if sources[0] != secret else ()),
            ),
        )


def _copy(secret: KubeObject, source: KubeObject) -> Remedy:
    """Puts the CA of catalogd's Secret where operator-controller reads it."""
    key = "ca\\.crt"
    read = (
        f"$(kubectl get secret {name_of(secret)} --namespace {namespace_of(secret)} "
        f"--output=jsonpath='{{.data.{key}}}'"
    )
    plain = source["kind"] != "Secret"
    value = f"{read} | base64 --decode | awk '{{printf \"%s\\\\n\", $0}}')" if plain else f"{read})"
    command = (
        f"kubectl patch {source['kind'].lower()} {name_of(source)} "
        f"--namespace {namespace_of(source)} --type=merge "
        f'--patch "{{\\"data\\":{{\\"ca.crt\\":\\"{value}\\"}}}}"'
    )
    return Remedy("let it trust the CA that is served", (command,))


def certificates_well(snapshot: Snapshot) -> str:
    """In a line."""
    if not deployments_of(snapshot, CATALOGD):
        return "catalogd has no Deployment whose certificate could be looked at"
    return "operator-controller trusts what catalogd serves with"


def catalogs(snapshot: Snapshot) -> Iterator[Finding]:
    """Catalogs that are not served, or not as they should be."""
    if snapshot.is_installed and not snapshot.all(Fact.CATALOGS):
        yield Finding(
            Severity.WARNING,
            "there is no catalog: nothing can be installed",
            remedies=(Remedy("add one", ("olm catalog add NAME IMAGE",)),),
        )
    for catalog in snapshot.all(Fact.CATALOGS):
        state = catalog_state(catalog)
        if state.phase in (Phase.BLOCKED, Phase.RETRYING):
            yield _failing(catalog, state.message, state.hint)
        if state.phase is not Phase.OFF:
            yield from _unlabelled(catalog)


def _failing(catalog: KubeObject, message: str, hint: str) -> Finding:
    serving = (condition(catalog, "Serving") or {}).get("status") == "True"
    effect = "; what was unpacked before is served on" if serving else ", and serves nothing"
    named, look = commands_in(hint), f"kubectl describe clustercatalog {name_of(catalog)}"
    return Finding(
        Severity.WARNING if serving else Severity.ERROR,
        f"{key_of(catalog)} cannot be renewed{effect}",
        key_of(catalog),
        why=message,
        remedies=(
            *((Remedy(hint, named),) if named else ()),
            Remedy("see the whole message", (look,)),
            Remedy(
                "try again at once, when the cause is mended",
                (f"olm catalog refresh {name_of(catalog)}",),
            ),
            _switching_off(catalog),
        ),
    )


def _switching_off(catalog: KubeObject) -> Remedy:
    return Remedy(
        f"take catalog {name_of(catalog)} out of use until it can be pulled",
        (f"olm catalog disable {name_of(catalog)}",),
        loses="its packages are not offered meanwhile",
    )


def _unlabelled(catalog: KubeObject) -> Iterator[Finding]:
    labels = (catalog.get("metadata") or {}).get("labels") or {}
    if labels.get(names.LABEL_METADATA_NAME) != name_of(catalog):
        label = {names.LABEL_METADATA_NAME: name_of(catalog)}
        yield Finding(
            Severity.WARNING,
            f"{key_of(catalog)} cannot be selected by name: it lacks the label "
            f"{names.LABEL_METADATA_NAME}",
            key_of(catalog),
            why="catalogd's webhook sets it, and was not asked when the catalog was made",
            remedies=(Remedy("set it", (patch(catalog, {"metadata": {"labels": label}}),)),),
        )


def catalogs_well(snapshot: Snapshot) -> str:
    """In a line."""
    served = [c for c in snapshot.all(Fact.CATALOGS) if catalog_state(c).phase is not Phase.OFF]
    return f"{counted(len(served), 'catalog')}, all served"


def registries(snapshot: Snapshot) -> Iterator[Finding]:
    """Registries that fail catalogs, and whether they answer from here."""
    for answer in snapshot.registries:
        failing = [
            catalog
            for catalog in snapshot.all(Fact.CATALOGS)
            if registry_of(image_of(catalog)) == answer.subject
            and catalog_state(catalog).phase in (Phase.BLOCKED, Phase.RETRYING)
        ]
        named = ", ".join(map(name_of, failing))
        if answer.answers or answer.untrusted:
            yield Finding(
                Severity.WARNING,
                f"registry {answer.subject} answers from here, but catalogs fail: {named}",
                why=f"{_first_message(failing)}; from here it answers "
                f"{answer.status or 'with a certificate that is not trusted here'}: it is up, and "
                "the cluster's network, proxy, credentials or CAs differ",
                remedies=(_what_the_cluster_says(failing),),
            )
        else:
            yield Finding(
                Severity.ERROR,
                f"registry {answer.subject} answers neither the cluster nor from here: {named}",
                why=f"{_first_message(failing)}; from here: {answer.fault}",
                remedies=(
                    Remedy("see whether it runs", (f"curl --head {answer.address}",)),
                    *map(_switching_off, failing),
                ),
            )


def _first_message(failing: list[KubeObject]) -> str:
    return catalog_state(failing[0]).message if failing else ""


def _what_the_cluster_says(failing: list[KubeObject]) -> Remedy:
    return Remedy(
        "see what catalogd says; docs/how-to/troubleshooting.md has the messages",
        tuple(f"kubectl describe clustercatalog {name_of(each)}" for each in failing),
    )


def registries_well(snapshot: Snapshot) -> str:
    """In a line."""
    hosts = {registry_of(image_of(catalog)) for catalog in snapshot.all(Fact.CATALOGS)} - {""}
    return f"no catalog fails because of a registry ({len(hosts)} in use)"
