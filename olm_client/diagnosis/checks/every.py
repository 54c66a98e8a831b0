"""All checks, in the order in which they are reported. Pure."""

from collections.abc import Iterable

from olm_client.diagnosis.checks import (
    calls,
    catalogs,
    cluster,
    deletions,
    extensions,
    installation,
    objects,
)
from olm_client.diagnosis.facts import Fact
from olm_client.diagnosis.findings import Check
from olm_client.usage import InvalidValueError
from olm_runtime.suggestions import suggestion_or_all

CLUSTER, OLM, CATALOGS, EXTENSIONS, CALLS, OBJECTS = (
    "Cluster",
    "Operator Lifecycle Manager",
    "Catalogs",
    "Extensions",
    "What the API server calls",
    "Objects",
)

CHECKS = (
    Check(
        "api-server",
        CLUSTER,
        "The API server answers, is new enough, and knows you.",
        cluster.api_server,
        cluster.api_server_well,
    ),
    Check(
        "rights",
        CLUSTER,
        "You have the rights that the commands of olm need.",
        cluster.rights,
        cluster.rights_well,
        needs=(Fact.RIGHTS,),
    ),
    Check(
        "definitions",
        OLM,
        "The kinds of OLM are there and served.",
        cluster.definitions,
        cluster.definitions_well,
        needs=(Fact.DEFINITIONS,),
    ),
    Check(
        "versions",
        OLM,
        "Definitions have all fields that the programs use; the programs are of one version.",
        cluster.versions,
        cluster.versions_well,
        needs=(Fact.DEFINITIONS, Fact.DEPLOYMENTS),
    ),
    Check(
        "programs",
        OLM,
        "catalogd and operator-controller run.",
        installation.programs,
        installation.programs_well,
        needs=(Fact.DEFINITIONS, Fact.DEPLOYMENTS, Fact.LEASES),
        uses=(Fact.EXTENSIONS, Fact.CATALOGS),
    ),
    Check(
        "installations",
        OLM,
        "OLM is installed once.",
        installation.installations,
        installation.installations_well,
        needs=(Fact.DEFINITIONS, Fact.DEPLOYMENTS, Fact.LEASES),
    ),
    Check(
        "leader",
        OLM,
        "No Lease is held by a pod that is gone.",
        installation.leader,
        installation.leader_well,
        needs=(Fact.LEASES, Fact.DEPLOYMENTS),
    ),
    Check(
        "catalogd",
        CATALOGS,
        "catalogd answers, asked as the commands of olm ask it.",
        catalogs.catalogd,
        catalogs.catalogd_well,
        needs=(Fact.CATALOGS, Fact.ANSWERS),
        uses=(Fact.DEPLOYMENTS,),
    ),
    Check(
        "certificates",
        CATALOGS,
        "operator-controller trusts the certificate that catalogd serves with.",
        catalogs.certificates,
        catalogs.certificates_well,
        needs=(Fact.DEPLOYMENTS, Fact.CERTIFICATES),
    ),
    Check(
        "catalogs",
        CATALOGS,
        "Every catalog is unpacked, served, and has the label of its name.",
        catalogs.catalogs,
        catalogs.catalogs_well,
        needs=(Fact.DEFINITIONS, Fact.CATALOGS),
    ),
    Check(
        "registries",
        CATALOGS,
        "The registries of catalogs that fail: whether they answer from here.",
        catalogs.registries,
        catalogs.registries_well,
        needs=(Fact.CATALOGS, Fact.REGISTRIES),
    ),
    Check(
        "extensions",
        EXTENSIONS,
        "No extension is blocked, fails, or does not work.",
        extensions.extensions,
        extensions.extensions_well,
        needs=(Fact.EXTENSIONS,),
        uses=(Fact.OBJECT_SETS,),
    ),
    Check(
        "accounts",
        EXTENSIONS,
        "The namespaces and service accounts that extensions name are there.",
        extensions.accounts,
        extensions.accounts_well,
        needs=(Fact.EXTENSIONS, Fact.NAMESPACES, Fact.ACCOUNTS),
    ),
    Check(
        "revisions",
        EXTENSIONS,
        "Every active revision can proceed.",
        extensions.revisions,
        extensions.revisions_well,
        needs=(Fact.OBJECT_SETS,),
    ),
    Check(
        "webhooks",
        CALLS,
        "Admission webhooks are answered, and none keeps its own pods from starting.",
        calls.webhooks,
        calls.webhooks_well,
        needs=(Fact.WEBHOOKS, Fact.SERVICES),
        uses=(Fact.DEPLOYMENTS, Fact.NAMESPACES),
    ),
    Check(
        "webhook-certificates",
        CALLS,
        "Webhooks are called with the CA that signed what is served.",
        calls.webhook_certificates,
        calls.webhook_certificates_well,
        needs=(Fact.WEBHOOKS, Fact.DEFINITIONS, Fact.SERVICES, Fact.DEPLOYMENTS, Fact.CERTIFICATES),
    ),
    Check(
        "conversions",
        CALLS,
        "Conversion webhooks are answered, and the objects of their kinds can be read.",
        calls.conversions,
        calls.conversions_well,
        needs=(Fact.DEFINITIONS, Fact.SERVICES),
        uses=(Fact.DEPLOYMENTS, Fact.STUCK),
    ),
    Check(
        "api-services",
        CALLS,
        "APIs that other servers serve are available.",
        calls.api_services,
        calls.api_services_well,
        needs=(Fact.API_SERVICES,),
        uses=(Fact.SERVICES, Fact.DEPLOYMENTS, Fact.NAMESPACES),
    ),
    Check(
        "deletions",
        OBJECTS,
        "No deletion is stuck: who holds it, and whether that still works.",
        deletions.deletions,
        deletions.deletions_well,
        needs=(Fact.DEFINITIONS, Fact.NAMESPACES, Fact.DEPLOYMENTS, Fact.LEASES),
        uses=(
            Fact.EXTENSIONS,
            Fact.CATALOGS,
            Fact.OBJECT_SETS,
            Fact.OWNED,
            Fact.STUCK,
            Fact.API_SERVICES,
        ),
    ),
    Check(
        "leftovers",
        OBJECTS,
        "Nothing is left of extensions that are gone.",
        objects.leftovers,
        objects.leftovers_well,
        needs=(Fact.EXTENSIONS,),
        uses=(Fact.OWNED, Fact.BINDINGS),
    ),
    Check(
        "quotas",
        OBJECTS,
        "The pods of OLM and of extensions may be made.",
        objects.quotas,
        objects.quotas_well,
        needs=(Fact.DEPLOYMENTS,),
    ),
    Check(
        "disruption-budgets",
        OBJECTS,
        "Disruption budgets of OLM and of extensions let nodes be drained.",
        objects.disruption_budgets,
        objects.disruption_budgets_well,
        needs=(Fact.BUDGETS, Fact.DEPLOYMENTS),
    ),
)


def chosen(given: Iterable[str]) -> tuple[Check, ...]:
    """The checks of these names, all without any. Raises InvalidValueError for another name."""
    wanted, known = list(given), [check.name for check in CHECKS]
    for name in wanted:
        if name not in known:
            hint = suggestion_or_all(name, known, none="")
            raise InvalidValueError(f"there is no check '{name}'; {hint}", option="--check")
    return tuple(check for check in CHECKS if not wanted or check.name in wanted)
