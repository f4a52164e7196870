"""``strongroom rescue``: commands that a server needs once in years, if ever."""

import click

from strongroom.cli.audit import verify_export_command
from strongroom.cli.key_commands import adopt_secret_command, export_tenant_key_command
from strongroom.cli.storage import claim_command


@click.group("rescue")
def rescue_group() -> None:
    """Recover from a disaster, and leave Strongroom with the data."""


rescue_group.add_command(verify_export_command, "verify-export")
rescue_group.add_command(adopt_secret_command, "adopt-secret")
rescue_group.add_command(export_tenant_key_command, "export-tenant-key")
rescue_group.add_command(claim_command, "claim-storage")
