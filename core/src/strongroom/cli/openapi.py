"""``strongroom openapi``: the OpenAPI document."""

import json

import click

from strongroom.cli.context import CommandContext


@click.command()
@click.pass_obj
def openapi(context: CommandContext) -> None:
    """Print the OpenAPI document of the configured server, including its plugins."""
    from strongroom.app import container_of, create_app
    from strongroom.http.openapi import DOCUMENT_PATH

    app = create_app(context.configuration)
    base_path = context.configuration.settings.server.base_path
    document = app.test_client().get(base_path + DOCUMENT_PATH).get_json()
    container_of(app).close()
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))
