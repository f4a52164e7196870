"""What can go wrong in the domain, each kind with its stable code and HTTP status.

The code is the contract with clients; the message is for their developers and may change.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self


@dataclass(frozen=True, slots=True)
class Detail:
    """What is wrong with one field of a request, and what would be right."""

    field: str
    code: str
    message: str


class StrongroomError(Exception):
    """The root of the errors that clients are told about."""

    status: ClassVar[int]
    code: ClassVar[str]
    message: ClassVar[str]

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Sequence[Detail] = (),
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message or self.message)
        self.details = tuple(details)
        self.retry_after = retry_after

    @classmethod
    def of_field(cls, field: str, code: str, message: str) -> Self:
        """Return the error for one field."""
        return cls(details=[Detail(field, code, message)])


class MovedPermanently(StrongroomError):
    status, code = 308, "error.moved-permanently"
    message = "The resource has another path; see Location."


class MalformedRequest(StrongroomError):
    status, code = 400, "error.malformed-request"
    message = "The request cannot be read."


class ValidationFailed(StrongroomError):
    status, code = 400, "error.validation-failed"
    message = "Some fields of the request are not valid."


class LengthRequired(StrongroomError):
    status, code = 411, "error.length-required"
    message = "A raw upload needs Content-Length, or Content-Digest when it is sent in chunks."


class ChecksumMismatch(StrongroomError):
    status, code = 460, "error.checksum-mismatch"
    message = "What arrived does not have the checksum that was announced, and is dropped."


class UploadIncomplete(StrongroomError):
    status, code = 400, "error.upload-incomplete"
    message = "The upload ended before all of it had arrived."


class DigestMismatch(StrongroomError):
    status, code = 400, "error.digest-mismatch"
    message = "What arrived does not have the digest that was announced."


class PictureUnreadable(StrongroomError):
    status, code = 400, "error.picture-unreadable"
    message = "The picture is damaged or incomplete, or not of the type that it begins as."


class CaptchaRequired(StrongroomError):
    status, code = 400, "error.captcha-required"
    message = "A captcha must be solved first: see POST /captchas."


class CaptchaInvalid(StrongroomError):
    status, code = 400, "error.captcha-invalid"
    message = "The captcha's answer is wrong, was used before, or came too late."


class CodeInvalid(StrongroomError):
    status, code = 400, "error.code-invalid"
    message = "The verification code is wrong, was used before, or came too late."


class StateInvalid(StrongroomError):
    status, code = 400, "error.state-invalid"
    message = "The state is unknown, used, too old, or of another browser, user or purpose."


class SetupLinkInvalid(StrongroomError):
    status, code = 400, "error.setup-link-invalid"
    message = "The link is wrong, was used or is too old, or there is an administrator already."


class WrongPassword(StrongroomError):
    status, code = 400, "error.wrong-password"
    message = "The current password is wrong."


class AmbiguousToken(StrongroomError):
    status, code = 400, "error.ambiguous-token"
    message = "The request carries two different tokens of one kind."


class TokenRequired(StrongroomError):
    status, code = 401, "error.token-required"
    message = "An access token is required: Authorization: Bearer ..."


class TokenInvalid(StrongroomError):
    status, code = 401, "error.token-invalid"
    message = "The token is not valid, has expired, was used up, or was revoked."


class InvalidCredentials(StrongroomError):
    status, code = 401, "error.invalid-credentials"
    message = "The credential does not exist, or what proves it is wrong."


class Forbidden(StrongroomError):
    status, code = 403, "error.forbidden"
    message = "The logged-in user may not do this."


class FreshProofRequired(StrongroomError):
    status, code = 403, "error.fresh-proof-required"
    message = "Needs a code to a held contact, the current password, or a recent login."


class RegistrationClosed(StrongroomError):
    status, code = 403, "error.registration-closed"
    message = "Users cannot register themselves on this server."


class InvitationRequired(StrongroomError):
    status, code = 403, "error.invitation-required"
    message = "Registration needs an invitation by an administrator."


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
    message = "The resource cannot be given in the form asked for."


class RequestTimeout(StrongroomError):
    status, code = 408, "error.request-timeout"
    message = "The request's body arrives too slowly."


class LastContact(StrongroomError):
    status, code = 409, "error.last-contact"
    message = "At least one of e-mail address and mobile number must remain."


class NameConflict(StrongroomError):
    status, code = 409, "error.name-conflict"
    message = "The folder holds something of that name already."


class LastAdministrator(StrongroomError):
    status, code = 409, "error.last-administrator"
    message = "The tenant would be left without an administrator."


class RevisionConflict(StrongroomError):
    status, code = 409, "error.revision-conflict"
    message = "The resource has changed since the revision given."


class MoveIntoItself(StrongroomError):
    status, code = 409, "error.move-into-itself"
    message = "A folder cannot be moved into itself, or into what lies below it."


class NotAMember(StrongroomError):
    status, code = 409, "error.not-a-member"
    message = "Only members of the tenant can be granted something in it."


class OffsetConflict(StrongroomError):
    status, code = 409, "error.offset-conflict"
    message = "The upload goes on at another offset: ask for it by HEAD."


class NotAFolder(StrongroomError):
    status, code = 409, "error.not-a-folder"
    message = "The node is a file, and nothing can be put into it."


class NotAFile(StrongroomError):
    status, code = 409, "error.not-a-file"
    message = "The node is a folder, and has no content of its own."


class CredentialTaken(StrongroomError):
    status, code = 409, "error.credential-taken"
    message = "The credential belongs to a user already."


class CredentialConflict(StrongroomError):
    status, code = 409, "error.credential-conflict"
    message = "What was proven belongs to two different users."


class PreconditionFailed(StrongroomError):
    status, code = 412, "error.precondition-failed"
    message = "The resource is not in the state that If-Match demands."


class TusVersionUnsupported(StrongroomError):
    status, code = 412, "error.tus-version-unsupported"
    message = "The version of tus that the request is in is not spoken here: see Tus-Version."


class PayloadTooLarge(StrongroomError):
    status, code = 413, "error.payload-too-large"
    message = "The request's body is larger than allowed."


class PictureTooLarge(StrongroomError):
    status, code = 413, "error.picture-too-large"
    message = "The picture has more pixels than allowed, or takes too much to decode."


class UnsupportedMediaType(StrongroomError):
    status, code = 415, "error.unsupported-media-type"
    message = "The request's body is of a type that is not understood here."


class RangeNotSatisfiable(StrongroomError):
    status, code = 416, "error.range-not-satisfiable"
    message = "The range asked for lies outside the file."

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size


class UploadLocked(StrongroomError):
    status, code = 423, "error.upload-locked"
    message = "Another request is writing to the upload; see Retry-After."


class TooManyRequests(StrongroomError):
    status, code = 429, "error.too-many-requests"
    message = "Too many requests; see Retry-After."


class InternalError(StrongroomError):
    status, code = 500, "error.internal"
    message = "Something went wrong on the server."


class NotImplementedHere(StrongroomError):
    status, code = 501, "error.not-implemented"
    message = "The interface is not enabled on this server."


class Unavailable(StrongroomError):
    status, code = 503, "error.unavailable"
    message = "A part of the server does not answer; see Retry-After."


class StorageFull(StrongroomError):
    status, code = 507, "error.storage-full"
    message = "There is no room for the file."


def catalogue() -> Iterator[type[StrongroomError]]:
    """Return every kind of error, in the order of their statuses and codes."""
    return iter(sorted(StrongroomError.__subclasses__(), key=lambda kind: (kind.status, kind.code)))
