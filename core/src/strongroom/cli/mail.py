"""``strongroom mail``: shows the mails of a deployment without sending them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import click

from strongroom.activity.notifications.composition import EMAIL
from strongroom.activity.notifications.services import make_composer
from strongroom.activity.notifications.templates import TEMPLATES, template_parameters
from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo
from strongroom.foundation.locales import DEFAULT_LOCALE, LOCALES
from strongroom.foundation.translations import Translations

_RECIPIENT: Final = "maria@example.com"
_SAMPLES: Final[Mapping[str, str]] = {
    "code": "274915",
    "minutes": "5",
    "hours": "24",
    "days": "7",
    "tenant": "Acme",
    "what": "Your e-mail address was changed from m•••@example.com to n•••@example.org.",
    "time": "2026-11-28 09:41 UTC",
    "source": "Firefox, Windows, 192.0.2.7",
    "inviter": "Maria Huber",
    "name": "Backup of the office",
    "link": "https://files.example.com/account/links/1f0c2d",
    "subject": "A webhook was disabled",
    "text": "The endpoint https://hooks.example.com/files has failed for three days.",
}
"""A value for each placeholder."""

_INVITATION: Final = "0Qh5rVw3kYt8nZb2mXc7sLd4"
"""The code of an invitation, which is longer than the others."""


@click.group("mail")
def mail_group() -> None:
    """Show the mails that users get."""


@mail_group.command("list")
def list_command() -> None:
    """List the occasions, which are also the names of files in messages.templates_dir."""
    for occasion in TEMPLATES:
        echo(occasion)


@mail_group.command("preview")
@config_option
@click.argument("occasion", type=click.Choice(sorted(TEMPLATES)))
@click.option("--lang", type=click.Choice(LOCALES), default=DEFAULT_LOCALE, help="The language.")
@click.option("--text", "as_text", is_flag=True, help="Print the subject and the text, not the HTML.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file instead."
)
@click.pass_obj
def preview_command(
    context: CommandContext, occasion: str, lang: str, output: Path | None, *, as_text: bool
) -> None:
    """Print the HTML of a mail, with sample values, the brand and the texts of the deployment."""
    composer = make_composer(context.configuration, Translations())
    samples = {**_SAMPLES, "code": _INVITATION} if occasion == "invitation" else _SAMPLES
    values = {name: samples[name] for name in template_parameters(occasion)}
    message = composer.compose((EMAIL, _RECIPIENT), occasion, lang, values)
    content = f"Subject: {message.subject}\n\n{message.text}" if as_text else message.html or ""
    if output is None:
        echo(content)
    else:
        output.write_text(content + "\n", encoding="utf-8")
