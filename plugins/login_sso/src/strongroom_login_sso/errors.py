"""Kinds of error responses."""

from typing import Final

from strongroom.plugin_api.web import ErrorKind

FORBIDDEN: Final = ErrorKind(
    403, "error.sso-forbidden", "Only administrators of the tenant manage its single sign-on."
)
DOMAIN_UNKNOWN: Final = ErrorKind(404, "error.domain-not-found", "No such domain of the tenant.")
DOMAIN_REFUSED: Final = ErrorKind(
    400, "error.domain-refused", "The domain must be the company's own, such as acme.example."
)
DOMAIN_TAKEN: Final = ErrorKind(409, "error.domain-taken", "Another tenant has proven this domain.")
DOMAIN_LISTED: Final = ErrorKind(409, "error.domain-listed", "The tenant has this domain already.")
DOMAIN_LIMIT: Final = ErrorKind(409, "error.domain-limit", "The tenant has its maximum of domains.")
DOMAIN_NOT_PROVEN: Final = ErrorKind(
    409, "error.domain-not-proven", "DNS does not have the TXT record of the domain."
)
DOMAIN_UNCHECKED: Final = ErrorKind(
    503, "error.domain-unchecked", "DNS did not answer; try again later.", retry_after=60
)

PROVIDER_UNKNOWN: Final = ErrorKind(
    404, "error.identity-provider-not-found", "No such identity provider of the tenant."
)
PROVIDER_REFUSED: Final = ErrorKind(
    400, "error.identity-provider-refused", "The identity provider cannot be used."
)
PROVIDER_LIMIT: Final = ErrorKind(
    409, "error.identity-provider-limit", "The tenant has its maximum of identity providers."
)
PROVIDER_OUTDATED: Final = ErrorKind(
    409, "error.identity-provider-conflict", "The identity provider has another revision."
)
NOT_TRIED: Final = ErrorKind(
    409,
    "error.sso-not-tried",
    "First log in by this provider as an administrator; then enforce it within an hour.",
)
NO_BREAK_GLASS: Final = ErrorKind(
    409,
    "error.sso-without-break-glass",
    "Name an administrator with a second factor who logs in without the provider.",
)

REQUIRED: Final = ErrorKind(403, "error.sso-required", "Log in by your organisation's single sign-on.")
DOMAIN_ELSEWHERE: Final = ErrorKind(
    403, "error.sso-domain-not-proven", "The tenant has not proven the domain of the e-mail address."
)
NOT_INVITED: Final = ErrorKind(
    403, "error.sso-not-invited", "An administrator must invite you to the space."
)
ACCOUNT_ELSEWHERE: Final = ErrorKind(
    409,
    "error.sso-account-elsewhere",
    "The account belongs to another space; log in there, and connect this login.",
)
PROVIDER_GONE: Final = ErrorKind(
    403, "error.sso-provider-removed", "The space has removed this identity provider."
)

KINDS: Final = (
    FORBIDDEN,
    DOMAIN_UNKNOWN,
    DOMAIN_REFUSED,
    DOMAIN_TAKEN,
    DOMAIN_LISTED,
    DOMAIN_LIMIT,
    DOMAIN_NOT_PROVEN,
    DOMAIN_UNCHECKED,
    PROVIDER_UNKNOWN,
    PROVIDER_REFUSED,
    PROVIDER_LIMIT,
    PROVIDER_OUTDATED,
    NOT_TRIED,
    NO_BREAK_GLASS,
    REQUIRED,
    DOMAIN_ELSEWHERE,
    NOT_INVITED,
    ACCOUNT_ELSEWHERE,
    PROVIDER_GONE,
)
