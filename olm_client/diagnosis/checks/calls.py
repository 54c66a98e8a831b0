"""What the API server calls and cannot: webhooks, conversions, API services. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.objects import (
    KubeObject,
    ObjectKey,
    annotations_of,
    condition,
    is_deleting,
    key_of,
    labels_of,
    name_of,
)
from api.olm.v1 import names
from olm_client.diagnosis.admission import Attempt, blocks, rules_text, webhook_of
from olm_client.diagnosis.commands import delete, json_patch, patch
from olm_client.diagnosis.facts import API_SERVICE, DEFINITION, NAMESPACE, SECRET, Fact, Snapshot
from olm_client.diagnosis.findings import Finding, Remedy, Severity
from olm_client.diagnosis.references import Call, calls, mounted
from olm_client.diagnosis.services import Backend, backend_of
from olm_client.diagnosis.tls import authorities_of, certificate_of, is_for, is_signed_by_any
from olm_client.diagnosis.words import counted


def webhooks(snapshot: Snapshot) -> Iterator[Finding]:
    """Admission webhooks that nobody answers, and those that keep their own pods from coming."""
    grouped: dict[tuple[ObjectKey, str, str], list[Call]] = {}
    for call in calls(snapshot.all(Fact.WEBHOOKS)):
        key = (key_of(call.caller), call.namespace, call.service)
        grouped.setdefault(key, []).append(call)
    for alike in grouped.values():
        backend = backend_of(snapshot, alike[0])
        if backend.fault:
            yield _unanswered(snapshot, alike, backend)


def webhooks_well(snapshot: Snapshot) -> str:
    """In a line."""
    count = sum(1 for _ in calls(snapshot.all(Fact.WEBHOOKS)))
    return (
        f"{counted(count, 'admission webhook')} with a Service, none without somebody who answers"
    )


def _unanswered(snapshot: Snapshot, alike: Sequence[Call], backend: Backend) -> Finding:
    """The finding on webhooks of a configuration that call the same Service."""
    configuration = alike[0].caller
    key, noun = key_of(configuration), "webhook" if len(alike) == 1 else "webhooks"
    message = f"{noun} {', '.join(c.name for c in alike[:3])} of {key} cannot be called"
    refusing = [c for c in alike if _webhook(c).get("failurePolicy") != "Ignore"]
    if not refusing:
        why = f"{backend.fault}; failurePolicy Ignore: requests only wait for it"
        return Finding(
            Severity.WARNING, message, key, why=why, remedies=(*backend.revivals(), _removal(key))
        )
    rules = "; ".join(dict.fromkeys(rules_text(_webhook(call)) for call in refusing))
    why = f"{backend.fault}; failurePolicy Fail: every {rules} is refused"
    locked = next(filter(None, (_locked(snapshot, call, backend) for call in refusing)), None)
    if locked is not None:
        workload, attempt = locked
        refuse = "refuses" if len(alike) == 1 else "refuse"
        message += f", and {refuse} what {key_of(workload)} needs to answer: a deadlock"
        why += (
            f"; that is {attempt.operation} of {attempt.resource} in namespace "
            f"{alike[0].namespace}, too, where the pods of {name_of(workload)} are to run"
        )
    remedies = (*backend.revivals(), _opening(refusing), _removal(key))
    return Finding(Severity.ERROR, message, key, why=why, remedies=remedies)


def _webhook(call: Call) -> Mapping[str, Any]:
    return webhook_of(call.caller, call.number)


def _locked(snapshot: Snapshot, call: Call, backend: Backend) -> tuple[KubeObject, Attempt] | None:
    """A workload behind a webhook that cannot start because of it, and the request refused."""
    for workload in backend.workloads:
        attempt = blocks(snapshot, _webhook(call), call.namespace, workload)
        if attempt is not None:
            return workload, attempt
    return None


def _opening(refusing: Sequence[Call]) -> Remedy:
    operations = ",".join(
        f'{{"op":"add","path":"/webhooks/{call.number}/failurePolicy","value":"Ignore"}}'
        for call in refusing
    )
    return Remedy(
        "let requests pass while nobody answers",
        (json_patch(refusing[0].caller, f"[{operations}]"),),
        loses="until it is Fail again, what the webhook is to refuse is let through",
    )


def _removal(key: ObjectKey) -> Remedy:
    command = f"kubectl delete {key.gvk.kind.lower()} {key.name}"
    return Remedy(
        "remove the configuration, if what it belongs to is gone",
        (command,),
        loses="its webhooks are not asked any more",
    )


def conversions(snapshot: Snapshot) -> Iterator[Finding]:
    """Definitions whose objects cannot be read, since nobody converts them."""
    for definition in snapshot.all(Fact.DEFINITIONS, DEFINITION):
        conversion = (definition.get("spec") or {}).get("conversion") or {}
        if conversion.get("strategy") != "Webhook":
            continue
        faults = [
            backend for call in calls([definition]) if (backend := backend_of(snapshot, call)).fault
        ]
        unreadable = snapshot.unreadable.get(name_of(definition), "")
        if faults or unreadable:
            yield _unconverted(definition, faults, unreadable)


def conversions_well(_: Snapshot) -> str:
    """In a line."""
    return "every conversion webhook has somebody who answers"


def _unconverted(definition: KubeObject, faults: list[Backend], unreadable: str) -> Finding:
    effect = "cannot be read or deleted" if unreadable else "cannot be converted between versions"
    fault = "; ".join([each.fault for each in faults] or [unreadable])
    revivals = tuple(remedy for backend in faults for remedy in backend.revivals())
    plain = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
    return Finding(
        Severity.ERROR,
        f"objects of {key_of(definition)} {effect}: its conversion webhook is not answered",
        key_of(definition),
        why=fault,
        remedies=(
            *revivals,
            Remedy(
                "let the server convert by changing the version alone",
                (patch(definition, plain),),
                loses="fields that differ between versions may be dropped when objects are written",
            ),
        ),
    )


def api_services(snapshot: Snapshot) -> Iterator[Finding]:
    """APIs that another server is to serve, and does not: discovery fails, and so do deletions."""
    for service in snapshot.all(Fact.API_SERVICES, API_SERVICE):
        found = condition(service, "Available") or {}
        if found.get("status") != "False":
            continue
        backends = [backend_of(snapshot, call) for call in calls([service])]
        waiting = [
            name_of(obj) for obj in snapshot.all(Fact.NAMESPACES, NAMESPACE) if is_deleting(obj)
        ]
        held = f"; namespaces that cannot be deleted: {', '.join(waiting)}" if waiting else ""
        yield Finding(
            Severity.ERROR,
            f"{key_of(service)} is not available: no namespace can be deleted, and "
            "the garbage collector may stand still",
            key_of(service),
            why=f"{found.get('message') or found.get('reason')}{held}",
            remedies=(
                *(remedy for backend in backends for remedy in backend.revivals()),
                Remedy(
                    "remove it, if its server is gone for good",
                    (delete(service),),
                    loses="its API is not served until its server is installed again",
                ),
            ),
        )


def api_services_well(snapshot: Snapshot) -> str:
    """In a line."""
    return f"{counted(len(snapshot.all(Fact.API_SERVICES)), 'API service')}, all available"


def webhook_certificates(snapshot: Snapshot) -> Iterator[Finding]:
    """Callers that do not trust the certificate that is served to them."""
    callers = [*snapshot.all(Fact.WEBHOOKS), *snapshot.all(Fact.DEFINITIONS)]
    for call in calls(callers):
        backend = backend_of(snapshot, call)
        host = f"{call.service}.{call.namespace}.svc"
        for secret in _served(snapshot, backend, host):
            trusted = authorities_of(call.authorities)
            certificate = certificate_of(secret)
            if certificate is None or not call.authorities:
                continue
            if not is_signed_by_any(certificate, trusted):
                yield _untrusted(call, secret)
            elif certificate.not_valid_after_utc <= snapshot.now:
                yield _expired(call, secret, certificate.not_valid_after_utc)


def webhook_certificates_well(_: Snapshot) -> str:
    """In a line."""
    return "webhooks are called with CAs that go with the certificates that are served"


def _served(snapshot: Snapshot, backend: Backend, host: str) -> list[KubeObject]:
    """The Secrets that the pods behind a Service have mounted, with certificates for its name."""
    wanted = {named for workload in backend.workloads for named in mounted(workload)}
    found = (
        snapshot.find(Fact.CERTIFICATES, SECRET, each.name, each.namespace)
        for each in sorted(wanted)
        if each.kind == SECRET
    )
    return [secret for secret in found if secret is not None and is_for(secret, host)]


def _untrusted(call: Call, secret: KubeObject) -> Finding:
    key = "ca\\.crt" if (secret.get("data") or {}).get("ca.crt") else "tls\\.crt"
    namespace, name = secret["metadata"]["namespace"], name_of(secret)
    current = (
        f"$(kubectl get secret {name} --namespace {namespace} --output=jsonpath='{{.data.{key}}}')"
    )
    operations = f'[{{"op":"replace","path":"{call.place}/caBundle","value":"{current}"}}]'
    return Finding(
        Severity.ERROR,
        f"{call.name} of {key_of(call.caller)} trusts another CA than the one that signed "
        f"what is served: every call fails",
        key_of(call.caller),
        why=f"caBundle does not go with the certificate in Secret {namespace}/{name}, which the "
        f"pods behind Service {call.namespace}/{call.service} serve with{_injector(call.caller)}",
        remedies=(
            Remedy("put the CA of the Secret into it", (json_patch(call.caller, operations),)),
        ),
    )


def _injector(caller: KubeObject) -> str:
    """Who should have kept the CA up to date."""
    notes = annotations_of(caller)
    if any(each.startswith("cert-manager.io/inject") for each in notes):
        return "; cert-manager's cainjector should have put it there: does it run?"
    if labels_of(caller).get(names.LABEL_OWNER_NAME):
        return "; operator-controller restores it when its extension is reconciled"
    return ""


def _expired(call: Call, secret: KubeObject, when: Any) -> Finding:
    namespace, name = secret["metadata"]["namespace"], name_of(secret)
    return Finding(
        Severity.ERROR,
        f"the certificate that {call.name} of {key_of(call.caller)} is answered with has expired",
        key_of(call.caller),
        why=f"Secret {namespace}/{name} ended at {when:%Y-%m-%d %H:%M} UTC",
        remedies=(
            Remedy(
                "have its issuer make a new one",
                (f"kubectl delete secret {name} --namespace {namespace}",),
            ),
        ),
    )
