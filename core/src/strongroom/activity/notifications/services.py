"""The services of messages to users."""

from collections.abc import Iterable
from functools import cached_property, partial
from urllib.parse import urlsplit

from strongroom.activity.notifications.composition import Composer
from strongroom.activity.notifications.service import MessageService
from strongroom.activity.notifications.sms_numbers import SmsNumbers
from strongroom.activity.notifications.templates import MessageTexts, Texts, TextsRefused, read_texts
from strongroom.foundation.config import Configuration
from strongroom.foundation.translations import Translations
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.pages.design import PageDesign
from strongroom.web.services import ServiceGroup


class NotificationServices(ServiceGroup):
    """Messages to users."""

    @cached_property
    def messages(self) -> MessageService:
        base = self._base
        senders = {
            channel: [base.construct(choice, ("messages", choice.extension.name)) for choice in choices]
            for channel, choices in base.selection.senders.items()
        }
        composer = make_composer(base.configuration, base.translations)
        language = base.settings.messages.language
        observe = base.metrics.message if base.metrics else None
        service = MessageService(
            base.database,
            base.clock,
            senders,
            composer,
            SmsNumbers(base.settings.login.regions),
            language,
            observe=observe,
        )
        base.resources.callback(service.close)
        return service

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [
            PruneStep(
                "records of messages",
                partial(self.messages.prune, self._settings.messages.retention_days),
            )
        ]


def make_composer(configuration: Configuration, translations: Translations) -> Composer:
    """Return the composer of a deployment's messages.

    Raises:
        ConfigurationError: a file in the folder of texts, or of the brand, cannot be used.
    """
    settings = configuration.settings
    texts = MessageTexts(translations, message_texts(configuration))
    design, root = PageDesign.of_configuration(configuration), settings.public_root
    logo, dark_logo = design.mail_logo("logo"), design.mail_logo("logo_dark")
    messages = settings.messages
    return Composer(
        texts,
        settings.pages,
        logo and root + logo,
        dark_logo and root + dark_logo,
        code_in_subject=messages.code_in_subject,
        sms_site=urlsplit(settings.public_root).hostname or "" if messages.site_in_sms else "",
    )


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
