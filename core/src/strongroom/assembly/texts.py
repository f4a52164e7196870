"""Loads the message templates of a configuration."""

from strongroom.config import Configuration
from strongroom.notifications.overrides import TextsRefused, read_texts
from strongroom.notifications.templates import TEMPLATES, Texts


def message_texts(configuration: Configuration) -> Texts:
    """Return the built-in message texts, overridden by those in the configured folder.

    Raises:
        ConfigurationError: a file in the folder cannot be used.
    """
    folder = configuration.settings.messages.templates_dir
    if folder is None:
        return TEMPLATES
    try:
        return read_texts(folder)
    except TextsRefused as error:
        for fault in error.faults:
            configuration.add_error(("messages", "templates_dir"), fault)
        configuration.raise_if_invalid()
        raise
