"""Providers: what a plugin implements for each app or server that it redirects browsers to."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from strongroom.plugin_api.login import Assurance, Contact, Credential


@dataclass(frozen=True, slots=True)
class Start:
    """What begins a login at a provider.

    Args:
        state: ties the answer to the browser (RFC 6749, section 10.12): at most 96 letters, digits,
            ``.``, ``-`` and ``_``.
        redirect_uri: the callback of this server for the provider.
        nonce: ties an ID token to the login (OpenID Connect Core 1.0, section 3.1.2.1).
        code_challenge: the challenge of the method ``S256`` (RFC 7636, section 4.2).
        language: ``zh`` or ``en``; ``None``: not known.
        user_agent: the ``User-Agent``, for pages of browsers in apps.
    """

    state: str
    redirect_uri: str
    nonce: str = ""
    code_challenge: str = ""
    language: str | None = None
    user_agent: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a provider, and what the login began with. The state is already checked.

    Args:
        code: the authorization code (RFC 6749, section 4.1.2), 1 to 2048 characters.
        redirect_uri: the one of the :class:`Start`.
        nonce: the one of the :class:`Start`.
        code_verifier: of the challenge (RFC 7636, section 4.1).
        parameters: those other parameters of the redirect that the method lists, such as ``iss``
            (RFC 9207).
    """

    code: str = field(repr=False)
    redirect_uri: str = ""
    nonce: str = field(default="", repr=False)
    code_verifier: str = field(default="", repr=False)
    parameters: Mapping[str, str] = field(default_factory=dict, repr=False)


_UNKNOWN = Assurance()
_NO_CLAIMS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Identity:
    """A person, verified by a provider.

    Args:
        credential: the id of the person at the provider, which is never given to another person.
        also: further ids of the person that the provider has verified, as in ``VerifiedCredential``.
        contacts: the contacts that it states, with what is proven and trusted about each.
        display_name: the name of a user that the login creates.
        assurance: how strongly the provider has proven the person.
        session: the id of the session at the provider, such as ``sid`` (OpenID Connect Front-Channel
            Logout 1.0, section 3), for back-channel logout.
        claims: for rules about groups: small JSON values, which are not stored.
    """

    credential: Credential
    also: tuple[Credential, ...] = ()
    contacts: tuple[Contact, ...] = ()
    display_name: str | None = None
    assurance: Assurance = _UNKNOWN
    session: str | None = None
    claims: Mapping[str, Any] = field(default_factory=lambda: _NO_CLAIMS, repr=False)


class Provider(ABC):
    """One configured provider or app of a login method. Thread-safe."""

    labels: Mapping[str, str]
    """The name of the platform by language, at least ``en``."""

    icon: str | None = None
    """The name of a picture among the static files of the plugin."""

    form_post: bool = False
    """Whether the answer is a POST from the provider's site, as with ``response_mode=form_post``."""

    shows_qr_code: bool = False
    """Whether the page of the provider shows a QR code."""

    works_in: tuple[str, ...] = ()
    """Words in the ``User-Agent`` of the browsers in which it works; empty: in all of them."""

    own_app: tuple[str, ...] = ()
    """Words in the ``User-Agent`` of the platform's own app, where it is offered first."""

    fails_in: tuple[str, ...] = ()
    """Words in the ``User-Agent`` of the browsers in which it does not work."""

    shared_redirect_uri: bool = False
    """Whether all such providers share its redirect URI: their answers cannot be distinguished."""

    register: bool = True
    """Whether a login of an unknown person creates a user."""

    @abstractmethod
    def authorize_url(self, start: Start) -> str:
        """Return the URL that a browser is redirected to (RFC 6749, section 4.1.1).

        Raises:
            ProviderUnavailable: the URL is not known now, such as without a discovery document.
            Misconfigured: the operator must correct the configuration.
        """

    @abstractmethod
    def identify(self, answer: Answer) -> Identity:
        """Redeem the code, and return the identity of the person.

        Raises:
            ClientFault: the answer proves no identity that may log in.
            ProviderUnavailable: the provider could not verify the answer.
            Misconfigured: the operator must correct the configuration.
        """

    def is_member(self, credential: Credential) -> bool | None:  # noqa: ARG002  for overriding
        """Return whether a person is still a member of the organisation.

        Called at least every 4 minutes for each person with a login, from several threads.

        Returns:
            ``False``: the person has left. ``None``: not applicable.

        Raises:
            ProviderUnavailable: unknown now; nothing ends, and the check is repeated.
            Misconfigured: likewise, and the operator must correct the configuration.
        """
        return None

    def check(self) -> None:  # noqa: B027  for overriding
        """Send a harmless request that needs the app's secret, for ``strongroom doctor``.

        Raises:
            ProviderUnavailable: the provider does not respond.
            Misconfigured: the operator must correct the configuration.
        """

    def close(self) -> None:  # noqa: B027  for overriding
        """Release the resources of the provider."""
