"""``strongroom tenants``: lists and restores deleted tenants."""

import click

from strongroom.cli.context import CommandContext
from strongroom.clock import iso_format
from strongroom.errors import NotFound
from strongroom.identity import Origin


@click.group("tenants")
def tenants_group() -> None:
    """List and restore deleted tenants."""


@tenants_group.command("deleted")
@click.pass_obj
def deleted(context: CommandContext) -> None:
    """List the deleted tenants that can be restored.

    Each line has the id of the tenant, the times of its deletion and its purge, and its name.
    """
    with context.container() as container:
        for tenant in container.keeping.tenant_deletion.deleted():
            times = f"{iso_format(tenant.deleted_at)} {iso_format(tenant.purged_from)}"
            click.echo(f"{tenant.id} {times} {tenant.name}")


@tenants_group.command("restore")
@click.argument("tenant_id")
@click.pass_obj
def restore(context: CommandContext, tenant_id: str) -> None:
    """Restore a deleted tenant with its members, files and grants."""
    with context.container() as container:
        try:
            container.keeping.tenant_deletion.restore(tenant_id, Origin(user_agent="command line"))
        except NotFound as error:
            raise click.ClickException(f"No deleted tenant {tenant_id} can be restored.") from error
    click.echo(f"{tenant_id} restored")
