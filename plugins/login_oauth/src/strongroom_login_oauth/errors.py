"""Refusals and failures of providers.

No message contains a code, a token or a secret. Clients get the error of the class; the message is for
the log.
"""

from typing import ClassVar, Final

from strongroom.plugin_api.web import ErrorKind

# As the texts of the refusals below, these are filled in for each method, whose plugin translates them.
_UNKNOWN: Final = "Unknown {selector}; see the configuration."
_UNAVAILABLE: Final = "{platform} is unavailable now."


class ProviderError(Exception):
    """Base class. The message is one line for the operator's log."""


class ClientFault(ProviderError):
    """The answer proves no identity that may log in. The client gets the status of the class."""

    status: ClassVar[int] = 401
    suffix: ClassVar[str]
    """The end of the error code, such as ``code-invalid`` of ``error.NAME-code-invalid``."""
    text: ClassVar[str]
    """The message for developers; ``{platform}`` is replaced."""


class CodeInvalid(ClientFault):
    """The provider did not issue this code to this app."""

    suffix = "code-invalid"
    text = "Invalid {platform} code for this app."


class CodeUsed(ClientFault):
    """The code has already been used."""

    suffix = "code-used"
    text = "The {platform} code has already been used."


class CodeExpired(ClientFault):
    """The code has expired."""

    suffix = "code-expired"
    text = "The {platform} code has expired."


class AccessDenied(ClientFault):
    """The person has refused, or the redirect has an ``error`` (RFC 6749, section 4.1.2.1)."""

    suffix = "access-denied"
    text = "The login was refused at {platform}."


class AnswerInvalid(ClientFault):
    """The answer is forged or inconsistent, such as an ID token of another issuer."""

    suffix = "answer-invalid"
    text = "Invalid answer of {platform}."


class NotMember(ClientFault):
    """The person is not a member of the organisation, or has left it."""

    status = 403
    suffix = "not-member"
    text = "Only members of the organisation can log in."


class EmailNotAllowed(ClientFault):
    """The person has no verified e-mail address of an allowed domain."""

    status = 403
    suffix = "email-not-allowed"
    text = "E-mail address of no allowed domain."


class ProviderUnavailable(ProviderError):
    """The provider is busy or unreachable, or returns an undocumented response. The client gets 503.

    Args:
        retry_after: seconds after which the client may retry.
    """

    def __init__(self, message: str, *, retry_after: int = 5) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TokenRefused(ProviderUnavailable):
    """The provider refuses the app's token, so that ``AppToken`` replaces it."""


class Misconfigured(ProviderError):
    """The provider refuses the app or its secret. The client gets 503; the operator must correct it."""


FAULTS: tuple[type[ClientFault], ...] = (
    CodeInvalid,
    CodeUsed,
    CodeExpired,
    AccessDenied,
    AnswerInvalid,
    NotMember,
    EmailNotAllowed,
)


def error_kind(fault: type[ClientFault], method: str, platform: str) -> ErrorKind:
    """Return the error that clients of a login method get for a refusal."""
    message = fault.text.format(platform=platform)
    return ErrorKind(fault.status, f"error.{method}-{fault.suffix}", message)


def unknown_kind(method: str, selector: str) -> ErrorKind:
    """Return the error for the name of a provider that the configuration does not have."""
    message = _UNKNOWN.format(selector=selector)
    return ErrorKind(400, f"error.{method}-{selector}-unknown", message)


def unavailable_kind(method: str, platform: str) -> ErrorKind:
    """Return the error of a login that cannot begin now."""
    return ErrorKind(503, f"error.{method}-unavailable", _UNAVAILABLE.format(platform=platform))


def kinds(method: str, platform: str, selector: str = "app") -> list[ErrorKind]:
    """Return the errors of a login method, for the hook ``register_errors``.

    Args:
        method: the name of the method, such as ``oidc``.
        platform: the English name of the platform, for messages.
        selector: what its providers are called: ``app`` or ``provider``.
    """
    faults = [error_kind(fault, method, platform) for fault in FAULTS]
    return [unknown_kind(method, selector), *faults, unavailable_kind(method, platform)]
