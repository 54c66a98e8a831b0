"""Which package may have been meant by a name that no catalog has.

What reads catalogs is imported when it is needed: names are seldom wrong.
"""

from collections.abc import Mapping
from typing import Any

from olm_runtime.errors import OLMError
from olm_runtime.suggestions import suggestion


def near_packages(package: str, options: Mapping[str, Any]) -> str:
    """Asks whether another package was meant; empty if none is near or that is not known."""
    from olm_client.catalogs.sources import Sources, package_names

    try:
        offers = Sources(options).offers()
    except OLMError:
        return ""
    return suggestion(package, package_names(offers))
