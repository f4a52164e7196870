"""Messages to users about changes of how they log in."""

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.notifications.service import MessageService
from strongroom.clock import DAY, Clock
from strongroom.foundation.locales import choose_locale
from strongroom.identity.users.contact_links import LIFETIME, ContactLinks
from strongroom.identity.users.contacts import describe_device
from strongroom.identity.users.credential_changes import (
    ChangedBy,
    Effect,
    LoginChange,
    SettledChange,
)
from strongroom.identity.users.models import EMAIL, MOBILE, USERNAME
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.times import UTC_ZONE, find_zone, named_moment

_CONTACT_CHANGED: Final = "credential-changed"
_REPLACED: Final = "contact-replaced"
"""To a contact that was replaced or removed, with the link that undoes it."""
_FORMER: Final = "contact-removed"
"""To such a contact without a link: no code that resets the password is sent there any more."""

_OCCASIONS: Final[Mapping[Effect, str]] = MappingProxyType(
    {
        Effect.CONTACT: _CONTACT_CHANGED,
        Effect.VERIFICATION: _CONTACT_CHANGED,
        Effect.USERNAME: _CONTACT_CHANGED,
        Effect.PLATFORM_LOGIN: _CONTACT_CHANGED,
        Effect.PASSWORD: "password-changed",
        Effect.FACTOR: "factor-changed",
    }
)
_Texts = tuple[str, str, str]
"""The sentences of something that was added, replaced and removed."""

_CREDENTIALS: Final[Mapping[str, _Texts]] = MappingProxyType(
    {
        EMAIL: (
            "The e-mail address {current} was added to your account.",
            "Your e-mail address was changed from {former} to {current}.",
            "The e-mail address {former} was removed from your account.",
        ),
        MOBILE: (
            "The mobile number {current} was added to your account.",
            "Your mobile number was changed from {former} to {current}.",
            "The mobile number {former} was removed from your account.",
        ),
        USERNAME: (
            "Your username was set to {current}.",
            "Your username was changed from {former} to {current}.",
            "Your username {former} was removed.",
        ),
    }
)
_PLATFORM: Final[_Texts] = (
    "A connected account ({kind}) was added to your account.",
    "A connected account ({kind}) was replaced.",
    "A connected account ({kind}) was removed from your account.",
)
_VERIFIED: Final = "Your contact {current} was marked as verified."
_UNVERIFIED: Final = "Your contact {current} was marked as not verified."
_PASSWORD: Final = "Your password was changed."  # noqa: S105  a sentence
_TEMPORARY: Final = "You were given a temporary password, and your former password ended."
_FACTORS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "totp": "An authenticator app",
        "passkey": "A passkey",
        "recovery_code": "A set of recovery codes",
    }
)
_ADDED: Final = "{factor} was added to your account."
_ADDED_NAMED: Final = "{factor} named \u201c{name}\u201d was added to your account."
_REMOVED: Final = "{factor} was removed from your account."
_REMOVED_NAMED: Final = "{factor} named \u201c{name}\u201d was removed from your account."
_SECOND_FACTOR: Final = "A method of two-step verification ({kind})"

_IMPORT: Final = "an import of users by an administrator"
_ADMINISTRATOR: Final = "an administrator"
_OPERATOR: Final = "the operator of the server"

Translate = Callable[[str], str]


class ChangeNotices:
    """Writes the messages about settled changes."""

    def __init__(
        self, clock: Clock, users: UserService, messages: MessageService, links: ContactLinks
    ) -> None:
        self._clock = clock
        self._users = users
        self._messages = messages
        self._links = links
        self._restoring_page: Callable[[], str | None] = lambda: None

    @property
    def restoring_page(self) -> str | None:
        """The URL of the page that redeems links, to which a token is appended, if there is one."""
        return self._restoring_page()

    def on_restoring_page(self, page: Callable[[], str | None]) -> None:
        """Register what returns the URL of the page that redeems links, to which a token is appended."""
        self._restoring_page = page

    def prepare(self, connection: Connection, settled: SettledChange) -> Callable[[], object]:
        """Return what sends the messages about a change, after its commit.

        They are in the language of the user, or else in the request's if the user sent it.
        """
        chosen = self._users.get_locale(connection, settled.user_id)
        own = settled.by.origin.languages if settled.by.actor_id == settled.user_id else ()
        languages = (chosen, *own) if chosen else own
        zone = find_zone(self._users.get_zone(connection, settled.user_id)) or UTC_ZONE
        time, links = named_moment(self._clock.now(), zone), self._issue(connection, settled)
        return lambda: self._send(settled, languages, time, links)

    def _issue(self, connection: Connection, settled: SettledChange) -> Mapping[Credential, str]:
        """Return the links by which the user takes back former contacts, by contact."""
        page = self.restoring_page if settled.restorable else None
        if page is None:
            return {}
        tokens = self._links.issue(connection, settled)
        return {contact: page + token for contact, token in tokens.items()}

    def _send(
        self,
        settled: SettledChange,
        languages: tuple[str, ...],
        time: str,
        links: Mapping[Credential, str],
    ) -> None:
        locale = choose_locale(languages, self._messages.default_locale)

        def translate(text: str) -> str:
            return self._messages.translate(text, locale)

        source = {"time": time, "source": _source(settled, translate)}
        for occasion in dict.fromkeys(_OCCASIONS[change.effect] for change in settled.changes):
            what = _sentences(settled.changes, occasion, translate)
            for contact in settled.contacts:
                text, parameters = occasion, {"what": what, **source}
                if occasion == _CONTACT_CHANGED and contact in settled.former:
                    text, of_link = self._former_text(contact, links.get(contact))
                    parameters |= of_link
                self._messages.send(contact, text, parameters, (locale,))

    def _former_text(self, contact: Credential, link: str | None) -> tuple[str, Mapping[str, str]]:
        """Return the occasion of the message to a former contact, and the parameters of its link."""
        if link and self._messages.can_send(_REPLACED, contact):
            return _REPLACED, {"link": link, "days": str(LIFETIME // DAY)}
        is_known = self._messages.can_send(_FORMER, contact)
        return (_FORMER if is_known else _CONTACT_CHANGED), {}


def _sentences(changes: Collection[LoginChange], occasion: str, translate: Translate) -> str:
    # Without a blank between two Chinese sentences.
    gap = translate(" ") if translate(_PASSWORD) == _PASSWORD else ""
    named = (change for change in changes if _OCCASIONS[change.effect] == occasion)
    return gap.join(_sentence(change, translate) for change in named)


def _sentence(change: LoginChange, translate: Translate) -> str:
    if change.effect is Effect.PASSWORD:
        return translate(_TEMPORARY if change.is_temporary else _PASSWORD)
    if change.effect is Effect.FACTOR:
        return _factor_sentence(change, translate)
    if change.is_verified is not None:
        return translate(_VERIFIED if change.is_verified else _UNVERIFIED).format(**change.shown)
    added, replaced, removed = _CREDENTIALS.get(change.kind, _PLATFORM)
    changed = removed if change.current is None else replaced
    text = added if change.former is None else changed
    return translate(text).format(kind=change.kind, **change.shown)


def _factor_sentence(change: LoginChange, translate: Translate) -> str:
    texts = (_ADDED_NAMED, _ADDED) if change.former is None else (_REMOVED_NAMED, _REMOVED)
    text = texts[0] if change.name else texts[1]
    factor = translate(_FACTORS.get(change.kind, _SECOND_FACTOR)).format(kind=change.kind)
    return translate(text).format(factor=factor, name=change.name)


def _source(settled: SettledChange, translate: Translate) -> str:
    by = settled.by
    if by.actor_id == settled.user_id:
        return describe_device(by.origin, translate)
    return translate(_actor(by))


def _actor(by: ChangedBy) -> str:
    if by.actor_id is None:
        return _OPERATOR
    return _IMPORT if "import" in by.details else _ADMINISTRATOR
