"""The commands below ``strongroom webhooks``."""

import click
from sqlalchemy import func, select

from strongroom.plugin_api.host import HostAPI
from strongroom_webhooks.models import Outcome, deliveries, endpoints
from strongroom_webhooks.service import Webhooks


def make_commands(host: HostAPI) -> click.Group:
    """Return the commands."""

    @click.group()
    def webhooks() -> None:
        """Endpoints that receive events."""

    @webhooks.command(name="list")
    def list_endpoints() -> None:
        """Print the endpoints, and how many deliveries of each are pending."""
        pending = (
            select(deliveries.c.endpoint_id, func.count().label("count"))
            .where(deliveries.c.outcome == Outcome.PENDING)
            .group_by(deliveries.c.endpoint_id)
        )
        with host.database.read() as tx:
            counts = {row.endpoint_id: row.count for row in tx.all(pending)}
            rows = tx.all(select(endpoints).order_by(endpoints.c.created_at))
        for row in rows:
            scope = row.tenant_id or "server"
            click.echo(f"{row.id}  {row.status:8}  {counts.get(row.id, 0):6}  {scope}  {row.url}")

    @webhooks.command()
    def deliver() -> None:
        """Send the due deliveries, for servers with `enabled = false`, and print the attempts."""
        click.echo(f"{host.get_service(Webhooks).sender().send_due()} attempts")

    return webhooks
