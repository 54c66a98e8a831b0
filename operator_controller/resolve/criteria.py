"""A request with its range, selector and versions parsed."""

from typing import NamedTuple

from api.olm.v1.clusterextension import UpgradeConstraintPolicy
from olm_content.ranges import ExtensionRange, RangeError, parse_extension_range
from olm_content.selectors import SelectorError, check
from olm_content.versions import VersionError
from operator_controller.resolve import messages
from operator_controller.resolve.errors import ResolutionError
from operator_controller.resolve.request import Request
from operator_controller.resolve.successors import Installed, read_installed


class Criteria(NamedTuple):
    """What a bundle has to satisfy.

    range      None: every version
    channels   empty: every channel
    installed  the bundle to be a successor of; None: nothing is installed, or the policy is
               SelfCertified, so that no edge is needed
    """

    range: ExtensionRange | None
    channels: frozenset[str]
    installed: Installed | None = None


def read_criteria(request: Request) -> Criteria:
    """Without the installed bundle. Raises ResolutionError for an invalid selector or range."""
    desired = request.desired
    try:
        check(desired.selector)
        versions = parse_extension_range(desired.version) if desired.version else None
    except SelectorError as error:
        raise ResolutionError(messages.invalid_selector(error.message)) from error
    except RangeError as error:
        message = messages.invalid_range(desired.version, error.message)
        raise ResolutionError(message, hint=error.hint) from error
    return Criteria(range=versions, channels=frozenset(desired.channels))


def with_installed(criteria: Criteria, request: Request) -> Criteria:
    """Adds the installed bundle, if only its successors may be chosen.

    Separate, because upstream parses its version only after it has found the package.
    Raises ResolutionError for an invalid version.
    """
    free = request.desired.upgrade_constraint_policy == UpgradeConstraintPolicy.SELF_CERTIFIED
    if request.installed is None or free:
        return criteria
    try:
        return criteria._replace(installed=read_installed(request.installed))
    except VersionError as error:
        message = messages.unreadable_installed(request.installed, error.message)
        raise ResolutionError(message, hint=error.hint) from error
