"""``strongroom plugins``: lists, checks and creates plugins."""

import click

from strongroom.cli.plugins.check import check_command
from strongroom.cli.plugins.listing import info_command, list_command
from strongroom.cli.plugins.new import new_command


@click.group("plugins")
def plugins_group() -> None:
    """List, check and create plugins."""


for command in (list_command, info_command, check_command, new_command):
    plugins_group.add_command(command)
