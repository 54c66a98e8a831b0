"""`opm login` and `opm logout`: the logins that podman and docker keep, without either."""

import getpass
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import click

from olm_runtime.errors import TerminalError
from opm.commands.registries import registry_options


@click.command("login")
@click.argument("registry")
@click.option("-u", "--username", help="User name; asked for without.")
@click.option("-p", "--password", help="Password; asked for without. Others may see it here.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@registry_options
@click.pass_obj
def login(
    registries: dict[str, Any],
    *,
    registry: str,
    username: str | None,
    password: str | None,
    password_stdin: bool,
) -> None:
    """Try a user name and password at a registry and keep them where podman does.

    \b
    Example:
      opm login registry.example.com -u me --password-stdin < password
    """
    from olm_runtime.images.registry_auth import encoded
    from olm_runtime.registry.logins import add_login, check_login, login_target
    from olm_runtime.registry.workstation import Registries

    if password_stdin and not username:
        raise click.UsageError("give --username: standard input is read for the password")
    host = _host(registry)
    user = username or click.prompt("Username", err=True)
    if password_stdin:
        password = sys.stdin.read().rstrip("\r\n")
        if not password:
            raise TerminalError("there is no password on standard input")
    given = encoded(user, password or _asked_password())
    access = Registries(**registries)
    check_login(host, given, access)
    add_login(access.auth_file or login_target(os.environ, Path.home()), host, given)
    click.echo("Login Succeeded!")


def _asked_password() -> str:
    """What is typed, not shown. Raises TerminalError where there is no terminal to hide it on."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            found: str = click.prompt("Password", hide_input=True, err=True)
        except getpass.GetPassWarning as error:
            raise TerminalError(
                "nobody can be asked for the password: there is no terminal",
                hint="--password-stdin reads it from standard input",
            ) from error
    return found


@click.command("logout")
@click.argument("registry")
@registry_options
@click.pass_obj
def logout(registries: dict[str, Any], *, registry: str) -> None:
    """Forget the login of a registry, in every file that is looked into."""
    from olm_runtime.registry.logins import remove_login
    from olm_runtime.registry.workstation import auth_files

    host, named = _host(registry), registries.get("auth_file")
    files = [named] if named else auth_files(os.environ, Path.home())
    if not [file for file in files if remove_login(file, host)]:
        raise TerminalError(f"not logged in to {host}")
    click.echo(f"Removed login credentials for {host}")


def _host(registry: str) -> str:
    host = registry.removeprefix("https://").removeprefix("http://").rstrip("/")
    if not host or "/" in host:
        raise TerminalError(f"{registry} is no registry", hint="write registry.example.com[:port]")
    return host
