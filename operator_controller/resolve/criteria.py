"""A request read once: its texts parsed, its faults raised."""

from dataclasses import dataclass, replace

from api.olm.v1.clusterextension import UpgradeConstraintPolicy
from olm_content.ranges import ExtensionRange, RangeError, parse_extension_range
from olm_content.selectors import SelectorError, check
from operator_controller.catalog import VersionError
from operator_controller.resolve import messages
from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.request import Request
from operator_controller.resolve.successors import Installed, read_installed


@dataclass(frozen=True, slots=True)
class Criteria:
    """What a bundle has to meet.

    range      None: every version
    channels   empty: every channel
    installed  the bundle to be a successor of; None: nothing is installed, or the policy is
               SelfCertified, so that no edge is needed
    """

    range: ExtensionRange | None
    channels: frozenset[str]
    installed: Installed | None = None


def read_criteria(request: Request) -> Criteria:
    """Without the installed bundle. Raises ResolutionError for a selector or range that is none."""
    wanted = request.wanted
    try:
        check(wanted.selector)
        versions = parse_extension_range(wanted.version) if wanted.version else None
    except SelectorError as error:
        raise ResolutionError(messages.invalid_selector(error.message)) from error
    except RangeError as error:
        message = messages.invalid_range(wanted.version, error.message)
        raise ResolutionError(message, hint=error.hint) from error
    return Criteria(range=versions, channels=frozenset(wanted.channels))


def with_installed(criteria: Criteria, request: Request) -> Criteria:
    """Adds the installed bundle, if its successors are what is asked for.

    Apart from the rest, because upstream reads its version no earlier than it finds the package.
    Raises ResolutionError for a version that is none.
    """
    free = request.wanted.upgrade_constraint_policy == UpgradeConstraintPolicy.SELF_CERTIFIED
    if request.installed is None or free:
        return criteria
    try:
        return replace(criteria, installed=read_installed(request.installed))
    except VersionError as error:
        message = messages.unreadable_installed(request.installed, error.message)
        raise ResolutionError(message, hint=error.hint) from error
