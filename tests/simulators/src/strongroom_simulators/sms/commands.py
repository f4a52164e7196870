"""The command ``strongroom sms simulator``."""

from contextlib import closing, suppress
from functools import partial

import click

from strongroom_simulators.listening import listening
from strongroom_simulators.sms import Account, Gateway, SmsSimulator, Template

DEFAULTS = Account()
DEFAULT_PORT = 8911


def _templates(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...], *, overseas: bool
) -> list[Template]:
    templates = []
    for value in values:
        code, separator, text = value.partition("=")
        if not (code and separator and text):
            raise click.BadParameter(f"{value!r} is not CODE=TEXT", context, parameter)
        templates.append(Template(code, text, overseas=overseas))
    return templates


template_option = partial(click.option, multiple=True, metavar="CODE=TEXT")


@click.command()
@listening(DEFAULT_PORT)
@click.option(
    "--access-key-id",
    default=DEFAULTS.access_key_id,
    show_default=True,
    help="The accepted access key.",
)
@click.option(
    "--access-key-secret",
    default=DEFAULTS.access_key_secret,
    show_default=True,
    help="The secret of the access key.",
)
@click.option(
    "--sign-name",
    "sign_names",
    multiple=True,
    default=DEFAULTS.sign_names,
    show_default=True,
    help="An approved signature; may be repeated.",
)
@template_option(
    "--template",
    "mainland",
    callback=partial(_templates, overseas=False),
    help="An approved template for mainland numbers, such as 'SMS_1=Code: ${code}'; may be repeated.",
)
@template_option(
    "--overseas-template",
    "overseas",
    callback=partial(_templates, overseas=True),
    help="Likewise for all other numbers.",
)
@click.option(
    "--limits/--no-limits",
    "limited",
    default=True,
    show_default=True,
    help="Apply carriers' limits.",
)
def simulator(
    *,
    host: str,
    port: int,
    access_key_id: str,
    access_key_secret: str,
    sign_names: tuple[str, ...],
    mainland: list[Template],
    overseas: list[Template],
    limited: bool,
) -> None:
    """Run a simulated Aliyun SMS gateway, which records messages without delivering them."""
    templates = (*mainland, *overseas) or DEFAULTS.templates
    account = Account(access_key_id, access_key_secret, sign_names, templates)
    server = SmsSimulator(Gateway(account, limited=limited), host=host, port=port)
    with suppress(KeyboardInterrupt), closing(server):
        click.echo(f"Gateway at http://{server.endpoint}, deliveries at {server.deliveries_url}")
        for template in templates:
            scope = "overseas" if template.overseas else "mainland"
            click.echo(f"{template.code} ({scope}): {template.text}")
        server.serve()
