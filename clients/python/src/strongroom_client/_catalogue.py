"""The errors of the server, one class per code. Written by clients/python/generate_client.py."""

from .errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    UnauthorizedError,
)


class AccountLinkInvalid(BadRequestError, code="error.account-link-invalid"):
    """400 `error.account-link-invalid`: The link is unknown, already used or expired."""


class AmbiguousToken(BadRequestError, code="error.ambiguous-token"):
    """400 `error.ambiguous-token`: The request has two different tokens; send one."""


class CaptchaInvalid(BadRequestError, code="error.captcha-invalid"):
    """400 `error.captcha-invalid`: The captcha answer is wrong, already used or expired."""


class CaptchaRequired(BadRequestError, code="error.captcha-required"):
    """400 `error.captcha-required`: A captcha is required; see POST /captchas."""


class ClientLogoRefused(BadRequestError, code="error.client-logo-refused"):
    """400 `error.client-logo-refused`: The logo is not acceptable."""


class ClientRedirectUriRefused(BadRequestError, code="error.client-redirect-uri-refused"):
    """400 `error.client-redirect-uri-refused`: A redirect URI is not acceptable."""


class ClientServiceAccountRefused(BadRequestError, code="error.client-service-account-refused"):
    """400 `error.client-service-account-refused`: The client may not act as this account."""


class CodeInvalid(BadRequestError, code="error.code-invalid"):
    """400 `error.code-invalid`: The verification code is wrong, already used or expired."""


class ContactLinkInvalid(BadRequestError, code="error.contact-link-invalid"):
    """400 `error.contact-link-invalid`: The link is unknown, already used or expired."""


class DigestMismatch(BadRequestError, code="error.digest-mismatch"):
    """400 `error.digest-mismatch`: The content does not match the announced digest."""


class FactorInvalid(BadRequestError, code="error.factor-invalid"):
    """400 `error.factor-invalid`: The answer does not enrol the factor."""


class FormRefused(BadRequestError, code="error.form-refused"):
    """400 `error.form-refused`: Another page sent the form; open the page again."""


class InvalidName(BadRequestError, code="error.invalid-name"):
    """400 `error.invalid-name`: The name of the file is not valid UTF-8. Send it as filename*=UTF-8''..."""


class LoginCodeInvalid(BadRequestError, code="error.login-code-invalid"):
    """400 `error.login-code-invalid`: The code is wrong, expired or used; begin the login again."""


class MalformedRequest(BadRequestError, code="error.malformed-request"):
    """400 `error.malformed-request`: The request is malformed."""


class PictureUnreadable(BadRequestError, code="error.picture-unreadable"):
    """400 `error.picture-unreadable`: The image is corrupt or truncated, or does not match its signature."""


class SetupLinkInvalid(BadRequestError, code="error.setup-link-invalid"):
    """400 `error.setup-link-invalid`: Invalid, used or expired setup link, or an administrator exists."""


class ShareNameRequired(BadRequestError, code="error.share-name-required"):
    """400 `error.share-name-required`: The drop box requires uploadedBy, the name of the sender."""


class SharePolicy(BadRequestError, code="error.share-policy"):
    """400 `error.share-policy`: The policy of shares forbids this."""


class StateInvalid(BadRequestError, code="error.state-invalid"):
    """400 `error.state-invalid`: The state is unknown, used, expired or bound to another context."""


class UploadIncomplete(BadRequestError, code="error.upload-incomplete"):
    """400 `error.upload-incomplete`: The upload ended prematurely."""


class ValidationFailed(BadRequestError, code="error.validation-failed"):
    """400 `error.validation-failed`: Some fields of the request are not valid."""


class WebhookEventTypeUnknown(BadRequestError, code="error.webhook-event-type-unknown"):
    """400 `error.webhook-event-type-unknown`: An event type does not exist; see the list of events."""


class WebhookStreamRefused(BadRequestError, code="error.webhook-stream-refused"):
    """400 `error.webhook-stream-refused`: The endpoint receives no events of this stream."""


class WebhookTenantUnknown(BadRequestError, code="error.webhook-tenant-unknown"):
    """400 `error.webhook-tenant-unknown`: There is no such tenant."""


class WebhookUrlRefused(BadRequestError, code="error.webhook-url-refused"):
    """400 `error.webhook-url-refused`: The URL cannot be called."""


class WechatAppUnknown(BadRequestError, code="error.wechat-app-unknown"):
    """400 `error.wechat-app-unknown`: Unknown app; see the configuration."""


class WrongPassword(BadRequestError, code="error.wrong-password"):
    """400 `error.wrong-password`: The current password is wrong."""


class ChallengeInvalid(UnauthorizedError, code="error.challenge-invalid"):
    """401 `error.challenge-invalid`: The challenge is unknown, expired or already used; log in again."""


class InvalidCredentials(UnauthorizedError, code="error.invalid-credentials"):
    """401 `error.invalid-credentials`: The credential is unknown, or its proof is wrong."""


class PasswordChangeRequired(UnauthorizedError, code="error.password-change-required"):
    """401 `error.password-change-required`: The password must be changed: repeat the login with newPassword."""


class SecondFactorEnrolmentRequired(UnauthorizedError, code="error.second-factor-enrolment-required"):
    """401 `error.second-factor-enrolment-required`: The user must enrol a second factor first; see enrolment."""


class SecondFactorRequired(UnauthorizedError, code="error.second-factor-required"):
    """401 `error.second-factor-required`: A second factor is required: answer the challenge."""


class ShareLoginRequired(UnauthorizedError, code="error.share-login-required"):
    """401 `error.share-login-required`: The share is for logged-in users; present an access token."""


class SharePasswordRequired(UnauthorizedError, code="error.share-password-required"):
    """401 `error.share-password-required`: The share has a password; see POST .../proofs."""


class StepUpRequired(UnauthorizedError, code="error.step-up-required"):
    """401 `error.step-up-required`: A stronger or newer proof is required: POST /authorizations/current/step-up."""


class TokenInvalid(UnauthorizedError, code="error.token-invalid"):
    """401 `error.token-invalid`: The token is invalid, expired, already used or revoked."""


class TokenRequired(UnauthorizedError, code="error.token-required"):
    """401 `error.token-required`: An access token is required: Authorization: Bearer ..."""


class WechatAccessDenied(UnauthorizedError, code="error.wechat-access-denied"):
    """401 `error.wechat-access-denied`: The login was refused at WeChat."""


class WechatCodeExpired(UnauthorizedError, code="error.wechat-code-expired"):
    """401 `error.wechat-code-expired`: The WeChat code has expired."""


class WechatCodeInvalid(UnauthorizedError, code="error.wechat-code-invalid"):
    """401 `error.wechat-code-invalid`: Invalid WeChat code for this app."""


class WechatCodeUsed(UnauthorizedError, code="error.wechat-code-used"):
    """401 `error.wechat-code-used`: The WeChat code has already been used."""


class WechatDataInvalid(UnauthorizedError, code="error.wechat-data-invalid"):
    """401 `error.wechat-data-invalid`: The data is invalid, expired, or another person's or app's."""


class WechatPersonBlocked(UnauthorizedError, code="error.wechat-person-blocked"):
    """401 `error.wechat-person-blocked`: WeChat blocks this person as a risk."""


class WechatPhoneCodeInvalid(UnauthorizedError, code="error.wechat-phone-code-invalid"):
    """401 `error.wechat-phone-code-invalid`: The phone code is unknown, used, or expired."""


class Forbidden(ForbiddenError, code="error.forbidden"):
    """403 `error.forbidden`: You may not do this; ask an administrator."""


class FreshProofRequired(ForbiddenError, code="error.fresh-proof-required"):
    """403 `error.fresh-proof-required`: Requires a verification code, the current password or a recent login."""


class ImpersonationRefused(ForbiddenError, code="error.impersonation-refused"):
    """403 `error.impersonation-refused`: Impersonation is read-only; log in as the user."""


class InsufficientScope(ForbiddenError, code="error.insufficient-scope"):
    """403 `error.insufficient-scope`: The access key lacks the scope of this operation."""


class InvitationRequired(ForbiddenError, code="error.invitation-required"):
    """403 `error.invitation-required`: Registration requires an invitation from an administrator."""


class KeyNotAccepted(ForbiddenError, code="error.key-not-accepted"):
    """403 `error.key-not-accepted`: This operation does not accept access keys; log in."""


class Quarantined(ForbiddenError, code="error.quarantined"):
    """403 `error.quarantined`: The file is in quarantine and cannot be read."""


class RegistrationClosed(ForbiddenError, code="error.registration-closed"):
    """403 `error.registration-closed`: Self-registration is disabled on this server."""


class ShareForbidden(ForbiddenError, code="error.share-forbidden"):
    """403 `error.share-forbidden`: Requires the permission manage, and the policy's consent."""


class ShareKind(ForbiddenError, code="error.share-kind"):
    """403 `error.share-kind`: Shares of this kind do not allow this."""


class ShareMakerOnly(ForbiddenError, code="error.share-maker-only"):
    """403 `error.share-maker-only`: Only its maker or a tenant administrator may loosen a share."""


class SharePasswordWrong(ForbiddenError, code="error.share-password-wrong"):
    """403 `error.share-password-wrong`: The password is wrong."""


class TermsNotAccepted(ForbiddenError, code="error.terms-not-accepted"):
    """403 `error.terms-not-accepted`: The terms must be accepted first; see consent."""


class UserSuspended(ForbiddenError, code="error.user-suspended"):
    """403 `error.user-suspended`: The user is suspended and cannot log in."""


class WebhookEndpointForbidden(ForbiddenError, code="error.webhook-endpoint-forbidden"):
    """403 `error.webhook-endpoint-forbidden`: Only administrators may manage webhooks."""


class ClientLogoNotFound(NotFoundError, code="error.client-logo-not-found"):
    """404 `error.client-logo-not-found`: No such logo."""


class ClientNotFound(NotFoundError, code="error.client-not-found"):
    """404 `error.client-not-found`: No such client."""


class ConsentNotFound(NotFoundError, code="error.consent-not-found"):
    """404 `error.consent-not-found`: The user has not consented to this client."""


class NotFound(NotFoundError, code="error.not-found"):
    """404 `error.not-found`: The resource does not exist."""


class PasskeyPageNotConfigured(NotFoundError, code="error.passkey-page-not-configured"):
    """404 `error.passkey-page-not-configured`: The server has no page for this."""


class ShareNotFound(NotFoundError, code="error.share-not-found"):
    """404 `error.share-not-found`: There is no such share."""


class ShareUnavailable(NotFoundError, code="error.share-unavailable"):
    """404 `error.share-unavailable`: There is no such share, or it has ended."""


class WebhookEndpointNotFound(NotFoundError, code="error.webhook-endpoint-not-found"):
    """404 `error.webhook-endpoint-not-found`: No such endpoint or delivery."""


class MethodNotAllowed(BadRequestError, code="error.method-not-allowed"):
    """405 `error.method-not-allowed`: The resource does not support this method."""


class NotAcceptable(BadRequestError, code="error.not-acceptable"):
    """406 `error.not-acceptable`: No representation matches the Accept header."""


class RequestTimeout(BadRequestError, code="error.request-timeout"):
    """408 `error.request-timeout`: The request body was sent too slowly."""


class ClientConflict(ConflictError, code="error.client-conflict"):
    """409 `error.client-conflict`: The client has another revision."""


class ClientLimit(ConflictError, code="error.client-limit"):
    """409 `error.client-limit`: The server has its maximum of clients."""


class ClientPublic(ConflictError, code="error.client-public"):
    """409 `error.client-public`: A public client has no secret."""


class CredentialConflict(ConflictError, code="error.credential-conflict"):
    """409 `error.credential-conflict`: The credentials belong to another user; log in and bind them."""


class CredentialTaken(ConflictError, code="error.credential-taken"):
    """409 `error.credential-taken`: The credential already belongs to a user."""


class GroupNameTaken(ConflictError, code="error.group-name-taken"):
    """409 `error.group-name-taken`: The tenant already has a group with this name."""


class Held(ConflictError, code="error.held"):
    """409 `error.held`: A hold covers the file or folder, or a file in it."""


class IdempotencyRunning(ConflictError, code="error.idempotency-running"):
    """409 `error.idempotency-running`: The first request with this Idempotency-Key is still running."""


class IdempotencyUnknown(ConflictError, code="error.idempotency-unknown"):
    """409 `error.idempotency-unknown`: The first request has no stored answer; check its effect."""


class LastAdministrator(ConflictError, code="error.last-administrator"):
    """409 `error.last-administrator`: The last administrator of the tenant cannot be removed."""


class LastContact(ConflictError, code="error.last-contact"):
    """409 `error.last-contact`: The last e-mail address or mobile number cannot be removed."""


class MoveIntoItself(ConflictError, code="error.move-into-itself"):
    """409 `error.move-into-itself`: A folder cannot be moved into itself or a descendant."""


class NameConflict(ConflictError, code="error.name-conflict"):
    """409 `error.name-conflict`: The folder already has a node with this name."""


class NotAFile(ConflictError, code="error.not-a-file"):
    """409 `error.not-a-file`: The node is a folder, not a file."""


class NotAFolder(ConflictError, code="error.not-a-folder"):
    """409 `error.not-a-folder`: The node is a file, not a folder."""


class NotAMember(ConflictError, code="error.not-a-member"):
    """409 `error.not-a-member`: The grantee is not a member of the tenant."""


class NotManagedHere(ConflictError, code="error.not-managed-here"):
    """409 `error.not-managed-here`: The user has verified the address, or belongs to another tenant, too."""


class NotScannedYet(ConflictError, code="error.not-scanned-yet"):
    """409 `error.not-scanned-yet`: The file is not scanned yet; see Retry-After."""


class OffsetConflict(ConflictError, code="error.offset-conflict"):
    """409 `error.offset-conflict`: Upload-Offset does not match the upload; get it by HEAD."""


class OwnAccount(ConflictError, code="error.own-account"):
    """409 `error.own-account`: Another administrator must make this change to your account."""


class ParentGone(ConflictError, code="error.parent-gone"):
    """409 `error.parent-gone`: The original folder no longer exists; choose one with parentId."""


class Retained(ConflictError, code="error.retained"):
    """409 `error.retained`: The content is retained until the given time."""


class RetentionLocked(ConflictError, code="error.retention-locked"):
    """409 `error.retention-locked`: In compliance mode, retention may only become stricter."""


class RevisionConflict(ConflictError, code="error.revision-conflict"):
    """409 `error.revision-conflict`: The resource has changed since the given revision."""


class SecondFactorNeeded(ConflictError, code="error.second-factor-needed"):
    """409 `error.second-factor-needed`: The user must have a second factor; enrol another one first."""


class ShareConflict(ConflictError, code="error.share-conflict"):
    """409 `error.share-conflict`: The share has another revision."""


class TooManyAccessKeys(ConflictError, code="error.too-many-access-keys"):
    """409 `error.too-many-access-keys`: The user has as many access keys as allowed; revoke one."""


class TooManyGroups(ConflictError, code="error.too-many-groups"):
    """409 `error.too-many-groups`: The tenant has as many groups as allowed; delete one."""


class TooManyInvitations(ConflictError, code="error.too-many-invitations"):
    """409 `error.too-many-invitations`: The tenant has as many open invitations as allowed; delete one."""


class TooManyLocks(ConflictError, code="error.too-many-locks"):
    """409 `error.too-many-locks`: The user holds as many locks as allowed; release one."""


class TooManyNodes(ConflictError, code="error.too-many-nodes"):
    """409 `error.too-many-nodes`: The folder contains too many files and folders; copy its parts."""


class WebhookEndpointConflict(ConflictError, code="error.webhook-endpoint-conflict"):
    """409 `error.webhook-endpoint-conflict`: The endpoint has another revision."""


class WebhookEndpointDisabled(ConflictError, code="error.webhook-endpoint-disabled"):
    """409 `error.webhook-endpoint-disabled`: The endpoint is disabled; enable it first."""


class WebhookEndpointLimit(ConflictError, code="error.webhook-endpoint-limit"):
    """409 `error.webhook-endpoint-limit`: The tenant has its maximum of endpoints."""


class WebhookEndpointOwnerless(ConflictError, code="error.webhook-endpoint-ownerless"):
    """409 `error.webhook-endpoint-ownerless`: Its owner no longer administers this; take it over first."""


class CursorExpired(NotFoundError, code="error.cursor-expired"):
    """410 `error.cursor-expired`: The changes after the cursor are no longer known; list the files again."""


class LengthRequired(BadRequestError, code="error.length-required"):
    """411 `error.length-required`: A raw upload needs Content-Length, or Content-Digest if chunked."""


class ShareLengthRequired(BadRequestError, code="error.share-length-required"):
    """411 `error.share-length-required`: The drop box has a maximum size, so Content-Length is required."""


class PreconditionFailed(ConflictError, code="error.precondition-failed"):
    """412 `error.precondition-failed`: A precondition such as If-Match is false."""


class TusVersionUnsupported(ConflictError, code="error.tus-version-unsupported"):
    """412 `error.tus-version-unsupported`: Unsupported tus version; see Tus-Version."""


class PayloadTooLarge(BadRequestError, code="error.payload-too-large"):
    """413 `error.payload-too-large`: The request body is too large."""


class PictureTooLarge(BadRequestError, code="error.picture-too-large"):
    """413 `error.picture-too-large`: The image has too many pixels, or decoding is too expensive."""


class ShareDropFull(BadRequestError, code="error.share-drop-full"):
    """413 `error.share-drop-full`: The drop box is full."""


class ShareDropTooLarge(BadRequestError, code="error.share-drop-too-large"):
    """413 `error.share-drop-too-large`: The drop box has no room for a file of this size."""


class UriTooLong(BadRequestError, code="error.uri-too-long"):
    """414 `error.uri-too-long`: The path and the query are too long together."""


class ShareNoPreview(BadRequestError, code="error.share-no-preview"):
    """415 `error.share-no-preview`: Only pictures and texts have a preview."""


class UnsupportedMediaType(BadRequestError, code="error.unsupported-media-type"):
    """415 `error.unsupported-media-type`: Unsupported media type."""


class RangeNotSatisfiable(BadRequestError, code="error.range-not-satisfiable"):
    """416 `error.range-not-satisfiable`: The requested range is outside the file."""


class ContentInfected(BadRequestError, code="error.content-infected"):
    """422 `error.content-infected`: A content scanner found malicious content."""


class ContentUnscannable(BadRequestError, code="error.content-unscannable"):
    """422 `error.content-unscannable`: The content cannot be scanned, such as an encrypted archive."""


class IdempotencyMismatch(BadRequestError, code="error.idempotency-mismatch"):
    """422 `error.idempotency-mismatch`: The Idempotency-Key was used for another request."""


class FileLocked(ConflictError, code="error.file-locked"):
    """423 `error.file-locked`: The file or folder, or a file in it, is locked for changes."""


class UploadLocked(ConflictError, code="error.upload-locked"):
    """423 `error.upload-locked`: Another request is writing to the upload; see Retry-After."""


class TooManyOpenUploads(RateLimitedError, code="error.too-many-open-uploads"):
    """429 `error.too-many-open-uploads`: Too many unfinished uploads; complete some, or see Retry-After."""


class TooManyRequests(RateLimitedError, code="error.too-many-requests"):
    """429 `error.too-many-requests`: Too many requests; see Retry-After."""


class HeaderFieldsTooLarge(BadRequestError, code="error.header-fields-too-large"):
    """431 `error.header-fields-too-large`: The headers of the request are too large together."""


class ChecksumMismatch(BadRequestError, code="error.checksum-mismatch"):
    """460 `error.checksum-mismatch`: The content does not match Upload-Checksum and was discarded."""


class Internal(ServerError, code="error.internal"):
    """500 `error.internal`: Internal server error."""


class NotEnabled(ServerError, code="error.not-implemented"):
    """501 `error.not-implemented`: This operation is not enabled on this server."""


class Unavailable(ServerError, code="error.unavailable"):
    """503 `error.unavailable`: A backend service is unavailable; see Retry-After."""


class StorageFull(ServerError, code="error.storage-full"):
    """507 `error.storage-full`: Not enough storage space for the file."""
