"""What messages say under a configuration."""

from strongroom.config import Configuration
from strongroom.messages.overrides import TextsRefused, read_texts
from strongroom.messages.templates import TEMPLATES, Texts


def message_texts(configuration: Configuration) -> Texts:
    """Return the texts that ship, with those of the deployer in their place.

    Raises:
        ConfigurationError: a file of the deployer's cannot be used.
    """
    folder = configuration.settings.messages.templates
    if folder is None:
        return TEMPLATES
    try:
        return read_texts(folder)
    except TextsRefused as error:
        for fault in error.faults:
            configuration.add_error(("messages", "templates"), fault)
        configuration.raise_if_invalid()
        raise
