"""The argument of commands about a package."""

import click

from olm_cli.catalogs.completing import known_packages

package_argument = click.argument("package", shell_complete=known_packages)
