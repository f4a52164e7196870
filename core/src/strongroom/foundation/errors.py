"""The error catalogue: every domain error with its stable code and HTTP status.

The code is part of the API contract; the message is for client developers and may change.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Self

from strongroom.foundation.json_text import encode_json
from strongroom.plugin_api.web import ApiError, ErrorKind, FieldError

Detail = FieldError
"""The error of one request field, and how to correct it."""

Translate = Callable[[str], str]
"""A function that returns an English message in the language of the client."""

MAX_DETAILS: Final = 50
"""The maximum number of details of an error; more of them help no client."""

_MAX_DETAILS_BYTES: Final = 12 * 1024
_MAX_TEXT: Final = 200
"""The maximum length of a field's name or a message, which may repeat the client's input."""


class StrongroomError(ApiError):
    """Base class of all errors that are reported to clients.

    Args:
        message: replaces the default message of the class.
        details: one entry per invalid field.
        retry_after: the value of the Retry-After header, in seconds.
    """

    message: ClassVar[str]
    members: Mapping[str, Any] = {}
    """Members of the response in addition to ``error``."""

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Sequence[Detail] = (),
        retry_after: int | None = None,
    ) -> None:
        kind = ErrorKind(self.status, self.code, message or self.message, retry_after=retry_after)
        super().__init__(kind, details=details)

    def within(self, path: str) -> Self:
        """Return this error for a part of the request, whose path its fields then begin with."""
        own = self.details or (Detail("", self.code.removeprefix("error."), str(self)),)
        self.details = tuple(
            Detail(".".join(filter(None, (path, each.field))), each.code, each.message) for each in own
        )
        return self

    @classmethod
    def of_field(cls, field: str, code: str, message: str) -> Self:
        """Return the error for one field."""
        return cls(details=[Detail(field, code, message)])

    @classmethod
    def of_taken_name(cls) -> Self:
        """Return the error for the field ``name``, whose value another record has."""
        return cls.of_field("name", "taken", cls.message)


class MovedPermanently(StrongroomError):
    status, code = 308, "error.moved-permanently"
    message = "The resource has a different path; see Location."


class MalformedRequest(StrongroomError):
    status, code = 400, "error.malformed-request"
    message = "The request is malformed."


class ValidationFailed(StrongroomError):
    status, code = 400, "error.validation-failed"
    message = "Some fields of the request are not valid."


class LengthRequired(StrongroomError):
    status, code = 411, "error.length-required"
    message = "A raw upload needs Content-Length, or Content-Digest if chunked."


class ChecksumMismatch(StrongroomError):
    status, code = 460, "error.checksum-mismatch"
    message = "The content does not match Upload-Checksum and was discarded."


class InvalidName(StrongroomError):
    status, code = 400, "error.invalid-name"
    message = "The name of the file is not valid UTF-8. Send it as filename*=UTF-8''..."


class UploadIncomplete(StrongroomError):
    status, code = 400, "error.upload-incomplete"
    message = "The upload ended prematurely."


class DigestMismatch(StrongroomError):
    status, code = 400, "error.digest-mismatch"
    message = "The content does not match the announced digest."


class AccountLinkInvalid(StrongroomError):
    status, code = 400, "error.account-link-invalid"
    message = "The link is unknown, already used or expired."


class ContactLinkInvalid(StrongroomError):
    status, code = 400, "error.contact-link-invalid"
    message = "The link is unknown, already used or expired."


class PictureUnreadable(StrongroomError):
    status, code = 400, "error.picture-unreadable"
    message = "The image is corrupt or truncated, or does not match its signature."


class CaptchaRequired(StrongroomError):
    status, code = 400, "error.captcha-required"
    message = "A captcha is required; see POST /captchas."


class CaptchaInvalid(StrongroomError):
    status, code = 400, "error.captcha-invalid"
    message = "The captcha answer is wrong, already used or expired."


class CodeInvalid(StrongroomError):
    status, code = 400, "error.code-invalid"
    message = "The verification code is wrong, already used or expired."


class StateInvalid(StrongroomError):
    status, code = 400, "error.state-invalid"
    message = "The state is unknown, used, expired or bound to another context."


class FormRefused(StrongroomError):
    status, code = 400, "error.form-refused"
    message = "Another page sent the form; open the page again."


class SetupLinkInvalid(StrongroomError):
    status, code = 400, "error.setup-link-invalid"
    message = "Invalid, used or expired setup link, or an administrator exists."


class WrongPassword(StrongroomError):
    status, code = 400, "error.wrong-password"
    message = "The current password is wrong."


class AmbiguousToken(StrongroomError):
    status, code = 400, "error.ambiguous-token"
    message = "The request has two different tokens; send one."


class TokenRequired(StrongroomError):
    status, code = 401, "error.token-required"
    message = "An access token is required: Authorization: Bearer ..."


class TokenInvalid(StrongroomError):
    status, code = 401, "error.token-invalid"
    message = "The token is invalid, expired, already used or revoked."


class InvalidCredentials(StrongroomError):
    status, code = 401, "error.invalid-credentials"
    message = "The credential is unknown, or its proof is wrong."


class ChallengeInvalid(StrongroomError):
    status, code = 401, "error.challenge-invalid"
    message = "The challenge is unknown, expired or already used; log in again."


class SecondFactorRequired(StrongroomError):
    status, code = 401, "error.second-factor-required"
    message = "A second factor is required: answer the challenge."

    def __init__(self, challenge: Mapping[str, Any]) -> None:
        super().__init__()
        self.members = {"challenge": challenge}


class StepUpRequired(StrongroomError):
    status, code = 401, "error.step-up-required"
    message = "A stronger or newer proof is required: POST /authorizations/current/step-up."

    def __init__(self, acr_values: str | None, max_age: int | None) -> None:
        """``max_age`` is in seconds; ``None`` demands nothing."""
        super().__init__()
        self.acr_values = acr_values
        self.max_age = max_age


class FactorEnrolmentRequired(StrongroomError):
    status, code = 401, "error.second-factor-enrolment-required"
    message = "The user must enrol a second factor first; see enrolment."

    def __init__(self, enrolment: Mapping[str, Any]) -> None:
        super().__init__()
        self.members = {"enrolment": enrolment}


class TermsNotAccepted(StrongroomError):
    status, code = 403, "error.terms-not-accepted"
    message = "The terms must be accepted first; see consent."

    def __init__(self, consent: Mapping[str, Any]) -> None:
        super().__init__()
        self.members = {"consent": consent}


class PasswordChangeRequired(StrongroomError):
    status, code = 401, "error.password-change-required"
    message = "The password must be changed: repeat the login with newPassword."

    @classmethod
    def with_end(cls, ends_at: str | None) -> Self:
        """Return the error with the end of a temporary password."""
        error = cls()
        error.members = {"passwordChange": {"expiresAt": ends_at}}
        return error


class FactorNeeded(StrongroomError):
    status, code = 409, "error.second-factor-needed"
    message = "The user must have a second factor; enrol another one first."


class FactorInvalid(StrongroomError):
    status, code = 400, "error.factor-invalid"
    message = "The answer does not enrol the factor."


class Forbidden(StrongroomError):
    status, code = 403, "error.forbidden"
    message = "You may not do this; ask an administrator."


class InsufficientScope(StrongroomError):
    status, code = 403, "error.insufficient-scope"
    message = "The access key lacks the scope of this operation."

    def __init__(self, scope: str) -> None:
        super().__init__(f"The access key lacks the scope {scope}.")
        self.scope = scope


class KeyNotAccepted(StrongroomError):
    status, code = 403, "error.key-not-accepted"
    message = "This operation does not accept access keys; log in."


class ImpersonationRefused(StrongroomError):
    status, code = 403, "error.impersonation-refused"
    message = "Impersonation is read-only; log in as the user."


class FreshProofRequired(StrongroomError):
    status, code = 403, "error.fresh-proof-required"
    message = "Requires a verification code, the current password or a recent login."


class Quarantined(StrongroomError):
    status, code = 403, "error.quarantined"
    message = "The file is in quarantine and cannot be read."


class RegistrationClosed(StrongroomError):
    status, code = 403, "error.registration-closed"
    message = "Self-registration is disabled on this server."


class InvitationRequired(StrongroomError):
    status, code = 403, "error.invitation-required"
    message = "Registration requires an invitation from an administrator."


class UserSuspended(StrongroomError):
    status, code = 403, "error.user-suspended"
    message = "The user is suspended and cannot log in."


class NotFound(StrongroomError):
    status, code = 404, "error.not-found"
    message = "The resource does not exist."


class MethodNotAllowed(StrongroomError):
    status, code = 405, "error.method-not-allowed"
    message = "The resource does not support this method."


class NotAcceptable(StrongroomError):
    status, code = 406, "error.not-acceptable"
    message = "No representation matches the Accept header."


class CursorExpired(StrongroomError):
    status, code = 410, "error.cursor-expired"
    message = "The changes after the cursor are no longer known; list the files again."


class RequestTimeout(StrongroomError):
    status, code = 408, "error.request-timeout"
    message = "The request body was sent too slowly."


class LastContact(StrongroomError):
    status, code = 409, "error.last-contact"
    message = "The last e-mail address or mobile number cannot be removed."


class NameConflict(StrongroomError):
    status, code = 409, "error.name-conflict"
    message = "The folder already has a node with this name."


class GroupNameTaken(StrongroomError):
    status, code = 409, "error.group-name-taken"
    message = "The tenant already has a group with this name."


class ParentGone(StrongroomError):
    status, code = 409, "error.parent-gone"
    message = "The original folder no longer exists; choose one with parentId."


class FileHeld(StrongroomError):
    status, code = 409, "error.held"
    message = "A hold covers the file or folder, or a file in it."

    @classmethod
    def for_hold(cls, reason: str, until: str | None) -> Self:
        """Return the error with the reason of the hold, and when it ends if that is known."""
        error = cls()
        error.members = {"hold": {"reason": reason, "until": until}}
        return error


class FileLocked(StrongroomError):
    status, code = 423, "error.file-locked"
    message = "The file or folder, or a file in it, is locked for changes."

    @classmethod
    def by(cls, holder: Mapping[str, str] | None, until: str) -> Self:
        """Return the error with the id and name of the lock's holder, if known, and the lock's end."""
        error = cls()
        error.members = {"lock": {"lockedBy": holder, "expiresAt": until}}
        return error


class FileRetained(StrongroomError):
    status, code = 409, "error.retained"
    message = "The content is retained until the given time."

    @classmethod
    def with_end(cls, until: str) -> Self:
        """Return the error with the time from which the content may be removed."""
        error = cls()
        error.members = {"retainedUntil": until}
        return error


class RetentionLocked(StrongroomError):
    status, code = 409, "error.retention-locked"
    message = "In compliance mode, retention may only become stricter."


class LastAdministrator(StrongroomError):
    status, code = 409, "error.last-administrator"
    message = "The last administrator of the tenant cannot be removed."


class OwnAccount(StrongroomError):
    status, code = 409, "error.own-account"
    message = "Another administrator must make this change to your account."


class RevisionConflict(StrongroomError):
    status, code = 409, "error.revision-conflict"
    message = "The resource has changed since the given revision."


class MoveIntoItself(StrongroomError):
    status, code = 409, "error.move-into-itself"
    message = "A folder cannot be moved into itself or a descendant."


class TooManyNodes(StrongroomError):
    status, code = 409, "error.too-many-nodes"
    message = "The folder contains too many files and folders; copy its parts."


class NotAMember(StrongroomError):
    status, code = 409, "error.not-a-member"
    message = "The grantee is not a member of the tenant."


class OffsetConflict(StrongroomError):
    status, code = 409, "error.offset-conflict"
    message = "Upload-Offset does not match the upload; get it by HEAD."


class NotAFolder(StrongroomError):
    status, code = 409, "error.not-a-folder"
    message = "The node is a file, not a folder."


class NotAFile(StrongroomError):
    status, code = 409, "error.not-a-file"
    message = "The node is a folder, not a file."


class NotScannedYet(StrongroomError):
    status, code = 409, "error.not-scanned-yet"
    message = "The file is not scanned yet; see Retry-After."


class TooManyKeys(StrongroomError):
    status, code = 409, "error.too-many-access-keys"
    message = "The user has as many access keys as allowed; revoke one."


class TooManyLocks(StrongroomError):
    status, code = 409, "error.too-many-locks"
    message = "The user holds as many locks as allowed; release one."


class TooManyGroups(StrongroomError):
    status, code = 409, "error.too-many-groups"
    message = "The tenant has as many groups as allowed; delete one."


class TooManyInvitations(StrongroomError):
    status, code = 409, "error.too-many-invitations"
    message = "The tenant has as many open invitations as allowed; delete one."


class CredentialTaken(StrongroomError):
    status, code = 409, "error.credential-taken"
    message = "The credential already belongs to a user."


class CredentialConflict(StrongroomError):
    status, code = 409, "error.credential-conflict"
    message = "The credentials belong to another user; log in and bind them."


class NotManagedHere(StrongroomError):
    status, code = 409, "error.not-managed-here"
    message = "The user has verified the address, or belongs to another tenant, too."


class IdempotencyRunning(StrongroomError):
    status, code = 409, "error.idempotency-running"
    message = "The first request with this Idempotency-Key is still running."


class IdempotencyUnknown(StrongroomError):
    status, code = 409, "error.idempotency-unknown"
    message = "The first request has no stored answer; check its effect."


class IdempotencyMismatch(StrongroomError):
    status, code = 422, "error.idempotency-mismatch"
    message = "The Idempotency-Key was used for another request."


class PreconditionFailed(StrongroomError):
    status, code = 412, "error.precondition-failed"
    message = "A precondition such as If-Match is false."


class TusVersionUnsupported(StrongroomError):
    status, code = 412, "error.tus-version-unsupported"
    message = "Unsupported tus version; see Tus-Version."


class PayloadTooLarge(StrongroomError):
    status, code = 413, "error.payload-too-large"
    message = "The request body is too large."


class PictureTooLarge(StrongroomError):
    status, code = 413, "error.picture-too-large"
    message = "The image has too many pixels, or decoding is too expensive."


class UriTooLong(StrongroomError):
    status, code = 414, "error.uri-too-long"
    message = "The path and the query are too long together."


class UnsupportedMediaType(StrongroomError):
    status, code = 415, "error.unsupported-media-type"
    message = "Unsupported media type."


class UnsupportedCoding(UnsupportedMediaType):
    """The body has a Content-Encoding. The response names the accepted ones (RFC 9110, 12.5.3)."""

    message = "The body must be sent without a Content-Encoding."


class RangeNotSatisfiable(StrongroomError):
    status, code = 416, "error.range-not-satisfiable"
    message = "The requested range is outside the file."

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


class ContentInfected(StrongroomError):
    status, code = 422, "error.content-infected"
    message = "A content scanner found malicious content."


class ContentUnscannable(StrongroomError):
    status, code = 422, "error.content-unscannable"
    message = "The content cannot be scanned, such as an encrypted archive."


class UploadLocked(StrongroomError):
    status, code = 423, "error.upload-locked"
    message = "Another request is writing to the upload; see Retry-After."


class TooManyRequests(StrongroomError):
    status, code = 429, "error.too-many-requests"
    message = "Too many requests; see Retry-After."


class TooManyOpenUploads(StrongroomError):
    status, code = 429, "error.too-many-open-uploads"
    message = "Too many unfinished uploads; complete some, or see Retry-After."


class HeaderFieldsTooLarge(StrongroomError):
    status, code = 431, "error.header-fields-too-large"
    message = "The headers of the request are too large together."


class InternalError(StrongroomError):
    status, code = 500, "error.internal"
    message = "Internal server error."


class NotImplementedHere(StrongroomError):
    status, code = 501, "error.not-implemented"
    message = "This operation is not enabled on this server."


class Unavailable(StrongroomError):
    status, code = 503, "error.unavailable"
    message = "A backend service is unavailable; see Retry-After."


class StorageFull(StrongroomError):
    status, code = 507, "error.storage-full"
    message = "Not enough storage space for the file."


def catalogue() -> Iterator[type[StrongroomError]]:
    """Return every error class, sorted by status and code."""
    return iter(sorted(StrongroomError.__subclasses__(), key=lambda kind: (kind.status, kind.code)))


def error_json(error: ApiError, request_id: str, translate: Translate = str) -> str:
    """Return the JSON text of an error response. All errors have this form."""
    members = error.members if isinstance(error, StrongroomError) else {}
    member = {**error_member(error, translate), "requestId": request_id}
    return encode_json({"error": member, **members})


def error_member(error: ApiError, translate: Translate = str) -> dict[str, Any]:
    """Return the member that describes an error in JSON: its code, its message and the fields.

    Its size does not depend on the client's input.
    """
    return {
        "code": error.code,
        "message": _shortened(translate(str(error))),
        "details": list(_bounded(error.details[:MAX_DETAILS], translate)),
    }


def _bounded(details: Iterable[Detail], translate: Translate) -> Iterator[dict[str, str]]:
    """Yield the details in JSON, up to a size in all."""
    left = _MAX_DETAILS_BYTES
    for item in details:
        member = {
            "field": _shortened(item.field),
            "code": item.code,
            "message": _shortened(translate(item.message)),
        }
        left -= len(encode_json(member).encode())
        if left < 0:
            return
        yield member


def _shortened(text: str) -> str:
    """Return the beginning of a long text, with lone surrogates, which UTF-8 cannot encode, escaped."""
    short = text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."
    return short.encode(errors="backslashreplace").decode()
