"""Operations on passkeys. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Done,
    Factor,
    FactorCollection,
    LoginPasskeyNewChallenge,
    NewPasskey,
    PasskeyChallenge,
    PasskeyEndpoints,
    PasskeyName,
    RelatedOrigins,
)
from ..operations import UNSET, Operation, Unset, segment


def add_passkey(
    user_id: str,
    *,
    body: NewPasskey,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Factor]:
    """Add the passkey that the browser has created.

    The body has the answer of `navigator.credentials.create()` to the challenge. The user is
    informed of the new passkey.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/passkeys",
        Factor,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def create_login_challenge(
    *,
    body: LoginPasskeyNewChallenge | Unset = UNSET,
) -> Operation[PasskeyChallenge]:
    """Begin a login by any passkey; `createAuthorization` with `passkey` finishes it, in one try.

    Pass `publicKey` to `navigator.credentials.get()` of the browser. No user is named: the browser
    offers the passkeys that it has for the server.
    """
    return Operation(
        "POST",
        "/passkey-challenges",
        PasskeyChallenge,
        body=body,
    )


def create_passkey_challenge(
    user_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
    idempotency_key: str | Unset = UNSET,
) -> Operation[PasskeyChallenge]:
    """Begin to add a passkey, with a fresh proof; `addPasskey` finishes it within 5 minutes.

    Pass `publicKey` to `navigator.credentials.create()` of the browser. Nothing changes until
    `addPasskey`.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/passkey-challenges",
        PasskeyChallenge,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
            "Idempotency-Key": idempotency_key,
        },
    )


def get_passkey(
    user_id: str,
    passkey_id: str,
) -> Operation[Factor]:
    """Get a passkey of a user, without its key.

    Administrators of the server may read other users' passkeys. The response has the name, and when
    the passkey was last used.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/passkeys/{segment(passkey_id)}",
        Factor,
    )


def get_passkey_endpoints() -> Operation[PasskeyEndpoints]:
    """Get the addresses of the pages on which users add and manage passkeys.

    Password managers read it to offer passkeys. It is 404 if the configuration names no page.
    """
    return Operation(
        "GET",
        "/.well-known/passkey-endpoints",
        PasskeyEndpoints,
    )


def get_related_origins() -> Operation[RelatedOrigins]:
    """Get the origins whose pages may use the passkeys (WebAuthn Level 3, section 5.11).

    Browsers read it before they use a passkey of the server on a page of another origin. No token
    is needed.
    """
    return Operation(
        "GET",
        "/.well-known/webauthn",
        RelatedOrigins,
    )


def list_passkeys(
    user_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[FactorCollection]:
    """List the passkeys of a user, oldest first.

    Administrators of the server may list other users' passkeys. Public keys are not included.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/passkeys",
        FactorCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def remove_passkey(
    user_id: str,
    passkey_id: str,
    *,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Done]:
    """Remove a passkey, with a fresh proof.

    It no longer logs in. The user removes it from the device or the password manager as well.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/passkeys/{segment(passkey_id)}",
        Done,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
    )


def rename_passkey(
    user_id: str,
    passkey_id: str,
    *,
    body: PasskeyName,
    x_verification_code: str | Unset = UNSET,
    x_current_password: str | Unset = UNSET,
) -> Operation[Factor]:
    """Rename a passkey, with a fresh proof.

    The name in the password manager of the user does not change.
    """
    return Operation(
        "PATCH",
        f"/users/{segment(user_id)}/passkeys/{segment(passkey_id)}",
        Factor,
        headers={
            "X-Verification-Code": x_verification_code,
            "X-Current-Password": x_current_password,
        },
        body=body,
    )
