"""Kinds of error responses."""

from typing import Final

from strongroom.plugin_api.web import ErrorKind

UNAVAILABLE: Final = ErrorKind(
    404, "error.share-unavailable", "There is no such share, or it has ended."
)
LOGIN_REQUIRED: Final = ErrorKind(
    401, "error.share-login-required", "The share is for logged-in users; present an access token."
)
PASSWORD_REQUIRED: Final = ErrorKind(
    401, "error.share-password-required", "The share has a password; see POST .../proofs."
)
PASSWORD_WRONG: Final = ErrorKind(403, "error.share-password-wrong", "The password is wrong.")
KIND: Final = ErrorKind(403, "error.share-kind", "Shares of this kind do not allow this.")
FORBIDDEN: Final = ErrorKind(
    403, "error.share-forbidden", "Requires the permission manage, and the policy's consent."
)
CREATOR_ONLY: Final = ErrorKind(
    403, "error.share-maker-only", "Only its maker or a tenant administrator may loosen a share."
)
UNKNOWN: Final = ErrorKind(404, "error.share-not-found", "There is no such share.")
POLICY: Final = ErrorKind(400, "error.share-policy", "The policy of shares forbids this.")
OUTDATED: Final = ErrorKind(409, "error.share-conflict", "The share has another revision.")
NAME_REQUIRED: Final = ErrorKind(
    400, "error.share-name-required", "The drop box requires uploadedBy, the name of the sender."
)
LENGTH_REQUIRED: Final = ErrorKind(
    411, "error.share-length-required", "The drop box has a maximum size, so Content-Length is required."
)
TOO_LARGE: Final = ErrorKind(
    413, "error.share-drop-too-large", "The drop box has no room for a file of this size."
)
FULL: Final = ErrorKind(413, "error.share-drop-full", "The drop box is full.")
NOT_SHOWN: Final = ErrorKind(415, "error.share-no-preview", "Only pictures and texts have a preview.")

KINDS: Final = (
    UNAVAILABLE,
    LOGIN_REQUIRED,
    PASSWORD_REQUIRED,
    PASSWORD_WRONG,
    KIND,
    FORBIDDEN,
    CREATOR_ONLY,
    UNKNOWN,
    POLICY,
    OUTDATED,
    NAME_REQUIRED,
    LENGTH_REQUIRED,
    TOO_LARGE,
    FULL,
    NOT_SHOWN,
)

VISITOR_ERRORS: Final = (UNAVAILABLE, LOGIN_REQUIRED, PASSWORD_REQUIRED, KIND)
