"""The errors of services in the output of commands."""

import os

import click

from strongroom.foundation.errors import StrongroomError
from strongroom.foundation.locales import environment_locale
from strongroom.foundation.translations import Translations


def refusal(error: StrongroomError, translations: Translations) -> click.ClickException:
    """Return the error that ends a command, in the language of the environment."""
    locale = environment_locale(os.environ)

    def said(text: str) -> str:
        return translations.translate(text, locale)

    faults = "; ".join(f"{item.field}: {said(item.message)}" for item in error.details)
    return click.ClickException(faults or said(str(error)))
