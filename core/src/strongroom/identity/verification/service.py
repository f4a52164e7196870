"""Sends verification codes: requires a captcha and enforces the rate limits."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from strongroom.activity.notifications.service import MessageService
from strongroom.foundation.addresses import get_network
from strongroom.foundation.config.limits import LimitsSettings
from strongroom.foundation.database import Database
from strongroom.foundation.errors import CaptchaRequired, NotImplementedHere, ValidationFailed
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.foundation.locales import choose_locale
from strongroom.foundation.plugins.selection import CHANNELS
from strongroom.identity.users.contacts import describe_device
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import EMAIL
from strongroom.identity.users.service import OPEN, UserService, require_open
from strongroom.identity.verification.captchas import CaptchaAnswer, CaptchaService
from strongroom.identity.verification.codes import LIFETIME, CodeService, NewCode, Purpose
from strongroom.identity.verification.link_urls import CodeLinks
from strongroom.plugin_api.login import Client, Credential

_MINUTE: Final = 60_000
_OF_USERS: Final = (Purpose.LOGIN, Purpose.RESET_PASSWORD)
_WITH_LINK: Final = "login-link"
"""The occasion of a message with a login code and its link."""
_OF_HELD: Final = "bind-held"
_OF_KNOWN: Final = "register-known"
"""The occasion of a message with a code for registration to an address of a user."""


@dataclass(frozen=True, slots=True)
class SentCode:
    """The response to the client. ``expires_at`` is in milliseconds since the Unix epoch."""

    id: str
    expires_at: int
    retry_after_seconds: int


def new_device_id() -> str:
    """Return a random id for a device."""
    return secrets.token_urlsafe(16)


def get_device(client: Client) -> str:
    """Return an identifier of the device: the id that it sent, or its network and User-Agent.

    A client may send another id each time, so the limits per recipient and per address also apply.
    """
    return client.device_id or f"{get_network(client.address)} {client.user_agent}"


@dataclass(frozen=True, slots=True)
class OfferedCodes:
    """The purposes of codes that the configuration enables.

    Args:
        login_kinds: the kinds of recipients that login methods declare to accept codes of.
        registration: the mode of ``[users] registration``.
        accepts_others: whether a login method declares no kinds; it may accept codes of any recipient.
        unshown_kinds: the kinds of recipients to which pages offer no codes.
        registering_kinds: the kinds of recipients whose first login creates a user, if registration is
            open.
    """

    login_kinds: frozenset[str]
    registration: str
    accepts_others: bool = False
    registering_kinds: frozenset[str] = frozenset()
    unshown_kinds: frozenset[str] = frozenset()

    def shown_kinds(self, purpose: Purpose) -> frozenset[str]:
        """Return the kinds of recipients that a purpose is known to accept, for pages."""
        kinds = self.login_kinds if purpose is Purpose.LOGIN else frozenset(CHANNELS)
        return kinds - self.unshown_kinds

    def is_usable(self, recipient: Credential, purpose: Purpose, *, is_bound: bool) -> bool:
        """Return whether a code could have an effect, so that strangers get no useless messages.

        Args:
            is_bound: whether a user holds the recipient.
        """
        if is_bound or purpose not in _OF_USERS:
            return True
        registers = self.accepts_others or recipient.kind in self.registering_kinds
        return purpose is Purpose.LOGIN and self.registration == OPEN and registers

    def required(self, kind: str) -> set[Purpose]:
        """Return the purposes for which the configuration requires codes to a kind of recipient."""
        login = {Purpose.LOGIN} if kind in self.login_kinds else set[Purpose]()
        return login | ({Purpose.REGISTER} if self.registration == OPEN else set())

    def require(self, recipient: Credential, purpose: Purpose, *, is_invited: bool = False) -> None:
        """Require that a code for this recipient and purpose could be used.

        Raises:
            NotImplementedHere: no login method accepts codes.
            ValidationFailed: no login method accepts codes for this kind of recipient.
            RegistrationClosed: users cannot register themselves.
            InvitationRequired: only invited users can register.
        """
        if purpose is Purpose.REGISTER:
            require_open(self.registration, is_invited=is_invited)
        if purpose is not Purpose.LOGIN or self.accepts_others:
            return
        if not self.login_kinds:
            raise NotImplementedHere("Login by verification code is not enabled on this server.")
        if recipient.kind not in self.login_kinds:
            message = f"Login codes can be sent to: {', '.join(sorted(self.login_kinds))}."
            raise ValidationFailed.of_field("recipient", "not-accepted", message)


class CodeSending:
    """Sends codes that clients request."""

    def __init__(
        self,
        database: Database,
        captchas: CaptchaService,
        rates: RateLimits,
        limits: LimitsSettings,
        offered: OfferedCodes,
        codes: CodeService,
        credentials: CredentialService,
        users: UserService,
        messages: MessageService,
    ) -> None:
        self._database = database
        self._captchas = captchas
        self._rates = rates
        self._limits = limits
        self._offered = offered
        self._codes = codes
        self._credentials = credentials
        self._users = users
        self._messages = messages
        self._is_invited: Callable[[str, Credential], bool] = lambda _secret, _recipient: False

    def set_invitation_check(self, check: Callable[[str, Credential], bool]) -> None:
        """Send codes for registration to invited users if only they can register."""
        self._is_invited = check

    def recipients(self, purpose: Purpose) -> frozenset[str]:
        """Return the kinds of recipients to which pages offer codes of a purpose."""
        kinds = self._offered.shown_kinds(purpose)
        return frozenset(kind for kind in kinds if self._messages.can_send_to(kind, purpose.value))

    def send(
        self,
        text: str,
        purpose: Purpose,
        captcha: CaptchaAnswer | None,
        client: Client,
        languages: Sequence[str] = (),
        invitation: str | None = None,
        *,
        links: CodeLinks | None = None,
        is_device_limited: bool = True,
    ) -> SentCode:
        """Send a code to an e-mail address or a mobile number.

        The response is the same whether or not a user holds the address or number.

        Args:
            links: the URLs of links, if the message should have one; only e-mails for a login have.

        Raises:
            ValidationFailed: the text is neither, or no login method accepts codes sent there.
            NotImplementedHere: no login method accepts codes, or no sender can send this one.
            RegistrationClosed: the code is for registration, which is closed.
            InvitationRequired: the code is for registration, which requires an invitation.
            CaptchaRequired: the captcha is missing.
            CaptchaInvalid: the solution of the captcha is wrong.
            TooManyRequests: a rate limit is exceeded.
            Unavailable: the captcha cannot be checked now.
        """
        recipient = self._credentials.identify(text)
        if recipient is None or recipient.kind not in CHANNELS:
            message = (
                "Must be an e-mail address or a mobile number, with country code if it is a foreign one."
            )
            raise ValidationFailed.of_field("recipient", "invalid", message)
        is_invited = invitation is not None and self._is_invited(invitation, recipient)
        self._offered.require(recipient, purpose, is_invited=is_invited)
        self._messages.require_reachable(recipient, "recipient")
        # Checked before the captcha, which would otherwise be consumed in vain.
        if not self._messages.can_send(purpose.value, recipient):
            raise NotImplementedHere("No message of this purpose can be sent to this recipient.")
        if captcha is None:
            raise CaptchaRequired
        self._captchas.consume(captcha, client.address)
        limited_device = get_device(client) if is_device_limited else None
        self._rates.spend(*self._allowances(recipient, client, limited_device))
        with self._database.write() as connection:
            code = self._codes.create(connection, recipient, purpose, get_device(client))
            # The same statements for unknown recipients, so that the duration does not reveal them.
            holders = self._credentials.find_users(connection, [recipient])
            chosen = self._users.get_locales(connection, holders.values())
        is_bound = bool(holders)
        occasion, parameters = self._content(code, purpose, recipient, links, is_bound=is_bound)
        accepted = (*chosen, *languages)
        parameters["source"] = self._describe(client, accepted)
        usable = self._offered.is_usable(recipient, purpose, is_bound=is_bound)
        # To the address as its holder wrote it: another spelling may be the mailbox of another person.
        holder = next(iter(holders), recipient)
        self._messages.send(holder, occasion, parameters, accepted, suppressed=not usable)
        return SentCode(code.id, code.expires_at, self._shortest_pause())

    def _describe(self, client: Client, languages: Sequence[str]) -> str:
        locale = choose_locale(languages, self._messages.default_locale)
        return describe_device(client, lambda text: self._messages.translate(text, locale))

    def _content(
        self,
        code: NewCode,
        purpose: Purpose,
        recipient: Credential,
        links: CodeLinks | None,
        *,
        is_bound: bool,
    ) -> tuple[str, dict[str, str]]:
        """Return the occasion of the message, and its parameters."""
        parameters = {"code": code.code, "minutes": str(LIFETIME // _MINUTE)}
        # Only the owner of the mailbox learns it. A text message has no room for more than the code.
        if is_bound and purpose is Purpose.REGISTER and recipient.kind == EMAIL:
            return _OF_KNOWN, parameters
        if is_bound and purpose is Purpose.BIND and recipient.kind == EMAIL:
            return _OF_HELD, parameters
        url = links.url(code) if links and purpose is Purpose.LOGIN and recipient.kind == EMAIL else None
        if url is None or not self._messages.can_send(_WITH_LINK, recipient):
            return purpose.value, parameters
        return _WITH_LINK, {**parameters, "link": url}

    def _allowances(
        self, recipient: Credential, client: Client, device: str | None
    ) -> Iterator[Allowance]:
        limits = self._limits
        if device is not None:
            yield Allowance("code-device", device, limits.code_per_device)
        name = f"{recipient.kind}:{recipient.value}"
        yield Allowance("code-recipient", name, limits.code_per_recipient)
        yield Allowance("code-address", get_network(client.address), limits.code_per_address)

    def _shortest_pause(self) -> int:
        """Return the minimum number of seconds until another code can be sent."""
        # Only rates such as 1/min require a pause; 5/hour allows bursts.
        rates = (*self._limits.code_per_device, *self._limits.code_per_recipient)
        return max((rate.seconds for rate in rates if rate.count == 1), default=0)
