"""Names of Kubernetes objects on the command line: what the API server would refuse is a usage
error, raised before any request.
"""

import re

import click

MAX_LABEL, MAX_SUBDOMAIN = 63, 253


def object_name(
    ctx: click.Context | None, param: click.Parameter | None, value: str | None
) -> str | None:
    """Lets names of objects through, as callback of an option. Raises BadParameter."""
    if value is None:
        return None
    from api.olm.v1.common import SUBDOMAIN

    return _checked(value, SUBDOMAIN, MAX_SUBDOMAIN, ctx, param)


def namespace_name(
    ctx: click.Context | None, param: click.Parameter | None, value: str | None
) -> str | None:
    """The same for namespaces; an empty one is as good as none. Raises BadParameter."""
    if not value:
        return value
    from api.olm.v1.common import LABEL

    return _checked(value, LABEL, MAX_LABEL, ctx, param)


def _checked(
    name: str, form: str, longest: int, ctx: click.Context | None, param: click.Parameter | None
) -> str:
    if len(name) > longest:
        raise click.BadParameter(f"'{name}' has more than {longest} characters.", ctx, param)
    if not re.fullmatch(form, name):
        dots = "" if longest == MAX_LABEL else " and dots"
        raise click.BadParameter(
            f"'{name}' is no name: write lower case letters, digits, dashes{dots}, "
            "with a letter or digit first and last.",
            ctx,
            param,
        )
    return name
