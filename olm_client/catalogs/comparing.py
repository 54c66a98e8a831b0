"""Compares two contents of catalogs."""

from olm_client.catalogs.content import Content
from olm_client.catalogs.details import Details, records_of
from olm_client.catalogs.difference import package_difference, package_summary


def compare(old: Content, new: Content) -> Details:
    """The packages that were added, removed and changed; only what differs is read.

    Raises RecordError for objects that are none.
    """
    before, after = old.digests(), new.digests()
    return {
        "added": [
            package_summary(records_of(new.blobs(name))) for name in after if name not in before
        ],
        "removed": [
            package_summary(records_of(old.blobs(name))) for name in before if name not in after
        ],
        "changed": [
            package_difference(records_of(old.blobs(name)), records_of(new.blobs(name)))
            for name, digest in after.items()
            if name in before and before[name] != digest
        ],
    }
