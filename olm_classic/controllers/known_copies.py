"""What the controllers of copied ClusterServiceVersions know: stores, sources, what was checked."""

from collections.abc import Iterable

from api.objects import KubeObject, is_deleting, labels_of, name_of
from api.operators.v1.olmconfig import SINGLETON
from olm_classic.copies.condition import is_disabled
from olm_classic.copies.records import Hashes, Record, origins, trimmed
from olm_classic.copies.sources import Copying, Key, Source, Sources
from olm_classic.copies.wanted import Wanted
from olm_classic.kinds import CLUSTER_SERVICE_VERSION, OLM_CONFIG
from olm_classic.names import LABEL_COPIED_FROM
from olm_classic.selections import NAMESPACES
from olm_runtime.controller.handlers import Change
from olm_runtime.controller.manager import Manager
from olm_runtime.controller.requests import Request, request_for
from olm_runtime.watch.informer import Selection

COPIES = Selection(
    CLUSTER_SERVICE_VERSION,
    labels=LABEL_COPIED_FROM,
    metadata_only=True,
    page_size=100,
    keep=trimmed,
)
"""A page is at most some megabytes: annotations of operators have whole examples."""

ORIGIN = "origin"
"""The index of copies by namespace and name of what they are copies of."""
MAX_FIELDS = 64
"""Sets of fields that are remembered of the copies of one source; there are one or two."""
MAX_VERSIONS = 2
"""Of one source, of whose copies that is remembered: the new one and the one before."""


class KnownCopies:
    """What is there, and what of it needs no look. Nothing here asks the API server."""

    def __init__(self, manager: Manager, *, protected: Iterable[str] = ()) -> None:
        """`protected` namespaces get copies where they are switched off."""
        self.sources = Sources()
        self.csvs = manager.store(CLUSTER_SERVICE_VERSION)
        self.copies = manager.selected(COPIES)
        self.namespaces = manager.selected(NAMESPACES)
        self.configs = manager.store(OLM_CONFIG)
        self._protected = frozenset(protected)
        self._wanted: dict[Key, tuple[str, Wanted]] = {}
        self._checked: dict[Key, dict[str, set[str]]] = {}
        self.copies.add_index(ORIGIN, _origin_keys)
        self.csvs.add_event_handler(self._note)

    def _note(self, event: Change) -> None:
        """Follows the sources; what was made of an old version is forgotten."""
        self._wanted.pop(event.key, None)
        if event.new is None or LABEL_COPIED_FROM in labels_of(event.new):
            self.sources.drop(event.key)
            self._checked.pop(event.key, None)
        else:
            self.sources.put(Source.of(event.new))

    def check_synced(self) -> None:
        """Raises NotSyncedError until everything was listed: nobody relies on what is missing."""
        for store in (self.csvs, self.copies, self.namespaces, self.configs):
            store.check_synced()

    @property
    def copying(self) -> Copying:
        """Whether operators of all namespaces are copied."""
        return Copying(is_disabled(self.configs.get(SINGLETON)), self._protected)

    def active(self) -> list[str]:
        """The namespaces that do not end."""
        return [name_of(each) for each in self.namespaces.objects() if not is_deleting(each)]

    def is_active(self, namespace: str) -> bool:
        """Whether a namespace is there and does not end."""
        found = self.namespaces.get(namespace)
        return found is not None and not is_deleting(found)

    def copy(self, key: Key) -> KubeObject | None:
        """What is cached of the copy of a namespace and name."""
        return self.copies.get(key[1], key[0])

    def copies_of(self, source: Key) -> set[str]:
        """The namespaces in which there are copies that are, or say that they are, of a source."""
        return {namespace for namespace, _ in self.copies.keys_by_index(ORIGIN, source)}

    def wanted(self, source: Source) -> Wanted | None:
        """What its copies have to be; None where it has changed since."""
        made = self._wanted.get(source.key)
        if made is not None and made[0] == source.version:
            return made[1]
        csv = self.csvs.get(source.key[1], source.key[0])
        if csv is None:
            return None
        wanted = Wanted.of(csv)
        self._wanted[source.key] = source.version, wanted
        return wanted

    def is_as_left(self, source: Source, record: Record) -> bool:
        """Whether a copy has what its hashes say, as nobody touched it since."""
        checked = self._checked.get(source.key, {})
        ours = record.label == record.origin == source.key[0] and not record.foreign
        return ours and record.fields in checked.get(record.hashes.rest, ())

    def is_settled(self, source: Source, record: Record, hashes: Hashes) -> bool:
        """Whether a copy is as it has to be."""
        return record.hashes == hashes and self.is_as_left(source, record)

    def settled(self, source: Source, namespaces: Iterable[str]) -> set[str]:
        """Those of the namespaces in which a copy is as it has to be."""
        wanted, name = self.wanted(source), source.key[1]
        if wanted is None:
            return set()
        copies = {each: self.copy((each, name)) for each in namespaces}
        return {
            each
            for each, copy in copies.items()
            if copy is not None and self.is_settled(source, Record.of(copy), wanted.hashes)
        }

    def note_checked(self, source: Source, record: Record) -> None:
        """A copy was found, or left, with the content that its hashes say."""
        checked = self._checked.setdefault(source.key, {})
        fields = checked.setdefault(record.hashes.rest, set())
        if len(fields) >= MAX_FIELDS:
            fields.clear()
        fields.add(record.fields)
        if len(checked) > MAX_VERSIONS:
            del checked[next(iter(checked))]


def _origin_keys(copy: KubeObject) -> list[Key]:
    name = name_of(copy)
    return [(namespace, name) for namespace in origins(copy)]


def key_request(key: Key) -> Request:
    """The request for a namespace and name."""
    namespace, name = key
    return request_for(name, namespace)
