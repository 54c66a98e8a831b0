"""`opm version`."""

import click


@click.command("version")
def version() -> None:
    """Print the version."""
    from importlib import metadata

    click.echo(f"opm, version {metadata.version('olmv1')}")
