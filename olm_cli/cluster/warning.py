"""Warnings of commands about a cluster's version."""

import click


def warn(text: str) -> None:
    """Writes to standard error."""
    click.echo(text, err=True)
