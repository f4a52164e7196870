"""The services of messages to users."""

from collections.abc import Mapping
from functools import cached_property, partial

from strongroom.activity.notifications.service import MessageService
from strongroom.activity.notifications.templates import MessageTexts, Texts, TextsRefused, read_texts
from strongroom.foundation.config import Configuration
from strongroom.web.services import PruneStep, ServiceGroup


class NotificationServices(ServiceGroup):
    """Messages to users."""

    @cached_property
    def messages(self) -> MessageService:
        base = self._base
        senders = {
            channel: [base.construct(choice, ("messages", choice.extension.name)) for choice in choices]
            for channel, choices in base.selection.senders.items()
        }
        texts = MessageTexts(base.translations, message_texts(base.configuration))
        language = base.settings.messages.language
        service = MessageService(base.database, base.clock, senders, texts, language)
        base.resources.callback(service.close)
        return service

    def register_prune_steps(self) -> Mapping[str, PruneStep]:
        return {
            "records of messages": partial(self.messages.prune, self._settings.messages.retention_days)
        }


def message_texts(configuration: Configuration) -> Texts:
    """Return the built-in message texts, overridden by those in the configured folder.

    Raises:
        ConfigurationError: a file in the folder cannot be used.
    """
    folder = configuration.settings.messages.templates_dir
    if folder is None:
        return {}
    try:
        return read_texts(folder)
    except TextsRefused as error:
        for fault in error.faults:
            configuration.add_error(("messages", "templates_dir"), fault)
        configuration.raise_if_invalid()
        raise
