"""What is known of the API services and webhooks of ClusterServiceVersions, from stores."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from api.objects import GVK, KubeObject, is_true, labels_of, metadata, name_of, namespace_of
from olm_classic.csv.owner import owner_of
from olm_classic.csv.replacement import Chain
from olm_classic.io.account_rights import OWNER
from olm_classic.io.api_leftovers import is_elsewhere
from olm_classic.io.conversions import Conversions
from olm_classic.owned_apis.availability import refusal as refusal_of
from olm_classic.owned_apis.described import Description, Serving, api_service_name, servings
from olm_classic.owned_apis.objects import (
    LABEL_WEBHOOK_NAME,
    SYSTEM_NAMESPACE,
    delegator_name,
    reader_name,
)
from olm_classic.selections import (
    API_SERVICES,
    CLUSTER_ROLE_BINDINGS,
    MUTATING,
    ROLE_BINDINGS,
    VALIDATING,
)
from olm_runtime.watch.store import Store

WEBHOOKS = (VALIDATING, MUTATING)


@dataclass(frozen=True, slots=True)
class KnownApis:
    """`stores` are those of their kinds; API services and webhooks are indexed by owner."""

    stores: Mapping[GVK, Store[KubeObject]]
    conversions: Conversions

    def configurations(self, csv: KubeObject, webhook: Description) -> list[KubeObject]:
        """The configurations of a webhook, the oldest first."""
        found = (
            each
            for each in self.owned(csv, WEBHOOKS)
            if labels_of(each).get(LABEL_WEBHOOK_NAME) == webhook["generateName"]
        )
        return sorted(found, key=lambda each: str(metadata(each)["creationTimestamp"]))

    def owned(self, csv: KubeObject, selections: Iterable[Any]) -> list[KubeObject]:
        """The objects of kinds that are outside of namespaces and say that they belong to it."""
        key = (namespace_of(csv), name_of(csv))
        return [
            found for each in selections for found in self.stores[each.gvk].by_index(OWNER, key)
        ]

    def trusted(self, csv: KubeObject, serving: Serving) -> Iterator[bytes]:
        """The CAs (PEM) that its callers trust now."""
        store = self.stores[API_SERVICES.gvk]
        services = (store.get(api_service_name(each)) for each in serving.api_services)
        configs = [(each or {}).get("spec") or {} for each in services]
        for webhook in serving.admissions:
            for found in self.configurations(csv, webhook):
                configs += [each["clientConfig"] for each in found.get("webhooks") or ()]
        configs += self.conversions.client_configs(csv, serving)
        for config in configs:
            yield base64.b64decode(config.get("caBundle") or "")

    def is_apart(self, serving: Serving) -> bool:
        """Whether the names that upstream gives to its bindings are taken, or were."""
        bindings = (
            (self.stores[CLUSTER_ROLE_BINDINGS.gvk], delegator_name, ""),
            (self.stores[ROLE_BINDINGS.gvk], reader_name, SYSTEM_NAMESPACE),
        )
        for store, named, namespace in bindings:
            plain = store.get(named(serving.service), namespace)
            if plain is not None and is_elsewhere(plain, serving.namespace):
                return True
            if store.get(named(serving.service, serving.namespace), namespace) is not None:
                return True
        return False

    def is_available(self, described: Description) -> bool:
        """Whether an API service works, as far as it is there."""
        found = self.stores[API_SERVICES.gvk].get(api_service_name(described))
        return found is None or is_true(found, "Available")

    def refusal(self, described: Description) -> str:
        """What its operator answers in place of the API."""
        return refusal_of(self.stores[API_SERVICES.gvk].get(api_service_name(described)))

    def unadoptable(self, csv: KubeObject, chain: Chain) -> bool:
        """Whether an API service belongs to another than those that replace each other with it."""
        ours = {(namespace_of(csv), name) for name in chain.related(csv)}
        store = self.stores[API_SERVICES.gvk]
        described = (each for serving in servings(csv) for each in serving.api_services)
        found = filter(None, (store.get(api_service_name(each)) for each in described))
        return not all(ours.intersection(owner_of(each)) for each in found)
