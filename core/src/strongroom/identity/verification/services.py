"""The services of captchas and codes."""

import logging
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from strongroom.activity.notifications.service import Senders
from strongroom.activity.notifications.services import NotificationServices
from strongroom.foundation.plugins.selection import CHANNELS, ExtensionSpec
from strongroom.identity.users.services import UserServices
from strongroom.identity.verification.captchas import CaptchaService
from strongroom.identity.verification.codes import CodeService, GuessLimits, Purpose
from strongroom.identity.verification.service import CodeSending, OfferedCodes
from strongroom.plugin_api.login import LoginMethod
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup

logger = logging.getLogger(__name__)


class VerificationServices(ServiceGroup):
    """Captchas and codes."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._user_services = group(UserServices)
        self._users = group(UserServices).users
        self._notifications = group(NotificationServices)

    @cached_property
    def captchas(self) -> CaptchaService:
        base, lifetime = self._base, self._settings.advanced.captcha_lifetime_seconds * 1000
        choice, for_pages = base.selection.captcha, base.selection.page_captcha
        provider = base.construct(choice, ("captcha",))
        page_provider = provider
        if for_pages is not choice:
            page_provider = base.construct(for_pages, ("captcha", "pages_provider"))
        return CaptchaService(self._database, self._clock, base.keys, provider, page_provider, lifetime)

    @cached_property
    def codes(self) -> CodeService:
        base, limits = self._base, self._settings.limits
        guesses = GuessLimits(limits.wrong_codes_per_recipient_daily, limits.unknown_codes_per_address)
        return CodeService(
            base.database,
            base.clock,
            base.keys,
            base.counters,
            base.rates,
            guesses,
            self._user_services.credentials.verify,
        )

    @cached_property
    def _offered_codes(self) -> OfferedCodes:
        methods = self._base.selection.login_methods
        registering = [choice for choice in methods if choice.extension.registers(choice.options)]
        return OfferedCodes(
            _recipients(methods),
            self._settings.users.registration,
            accepts_others=any(choice.extension.code_recipients is None for choice in methods),
            registering_kinds=_recipients(registering),
            unshown_kinds=frozenset() if self._sends_sms() else frozenset({"mobile"}),
        )

    def _sends_sms(self) -> bool:
        """Return whether SMS are delivered, or the configuration names the sender that prints them.

        By default, a development server prints all messages. Its pages offer codes by e-mail only,
        because a button for an SMS that never arrives misleads.
        """
        senders = self._base.selection.senders["sms"]
        is_stated = self._base.configuration.raw.states(("messages", "sms"))
        return is_stated or not all(sender.extension.development_only for sender in senders)

    @cached_property
    def code_sending(self) -> CodeSending:
        _require_codes(self._base, self._notifications.messages.senders, self._offered_codes)
        return CodeSending(
            self._database,
            self.captchas,
            self._base.rates,
            self._settings.limits,
            self._offered_codes,
            self.codes,
            self._user_services.credentials,
            self._users,
            self._notifications.messages,
        )

    def connect(self) -> None:
        self._user_services.credential_changes.on_void(self.codes.void)

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.codes.deactivate]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [
            PruneStep("captchas", self.captchas.prune),
            PruneStep("verification codes", self.codes.prune),
        ]


def _recipients(methods: Iterable[ExtensionSpec[LoginMethod[Any]]]) -> frozenset[str]:
    """Return the kinds of recipients whose codes the methods declare to accept."""
    return frozenset[str]().union(*(choice.extension.code_recipients or () for choice in methods))


def _require_codes(base: BaseServices, senders: Senders, offered: OfferedCodes) -> None:
    """Refuse a channel whose senders cannot send a required purpose; warn about optional ones."""
    for kind, channel in CHANNELS.items():
        missing = {
            purpose
            for purpose in Purpose
            if senders[channel] and not any(sender.can_send(purpose) for sender in senders[channel])
        }
        if needed := sorted(missing & offered.required(kind)):
            base.refuse(
                ("messages", channel),
                f"no sender can send codes for {', '.join(needed)}; add templates with these names",
            )
        if missing:
            names = ", ".join(sorted(missing))
            logger.warning(
                "No sender of %s can send codes for %s; requests for them get 501", channel, names
            )
