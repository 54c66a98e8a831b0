"""All rules, in the order in which their faults are listed."""

from collections.abc import Callable, Iterable, Iterator

from olm_catalogs.validate.bundles import check_bundles
from olm_catalogs.validate.channels import check_channels
from olm_catalogs.validate.faults import Fault, Group, groups
from olm_catalogs.validate.packages import check_deprecations, check_package
from olm_catalogs.validate.warnings import check_records
from olm_content.fbc.records import Record

PACKAGE_RULES: tuple[Callable[[Group], Iterator[Fault]], ...] = (
    check_package,
    check_channels,
    check_bundles,
    check_deprecations,
)


def check(records: Iterable[Record]) -> list[Fault]:
    """Every fault and warning of a catalog, by file and line."""
    given = list(records)
    faults = [*check_records(given)]
    for group in groups(given):
        faults += check_group(group)
    return sorted(faults, key=lambda fault: (fault.place, fault.warning))


def check_group(group: Group) -> Iterator[Fault]:
    """The faults of one package."""
    rules = PACKAGE_RULES if group.name and group.packages else (check_package,)
    for rule in rules:
        yield from rule(group)
