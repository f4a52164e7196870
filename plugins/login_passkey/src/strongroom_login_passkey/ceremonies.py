"""The ceremonies of WebAuthn: the options for the browser, and all checks of its responses.

The library ``webauthn`` verifies signatures, and parses what authenticators send. What it leaves to
its caller is checked here, and nowhere else; the core consumes the challenge, refuses a credential id
that is enrolled already, and bounds the size of the JSON.
"""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    decode_credential_public_key,
    options_to_json_dict,
    parse_attestation_object,
    parse_authenticator_data,
)
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.decoded_public_key_to_cryptography import decoded_public_key_to_cryptography
from webauthn.helpers.structs import (
    AttestationConveyancePreference,
    AttestationFormat,
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from strongroom_login_passkey.options import RelyingParty

Json = Mapping[str, Any]

TIMEOUT: Final = 5 * 60 * 1000
"""Milliseconds that a browser waits for the user, as long as the core waits for the browser."""

MAX_ID_BYTES: Final = 1023
"""The length of the longest credential id (WebAuthn, section 5.8.3)."""

MIN_RSA_BITS: Final = 2048
MAX_RSA_BITS: Final = 4096

ALGORITHMS: Final = (
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
)

_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")
_TRANSPORTS: Final = frozenset(transport.value for transport in AuthenticatorTransport)
_UNATTESTED: Final = frozenset({AttestationFormat.NONE, AttestationFormat.PACKED})


class Refused(Exception):
    """A response of an authenticator or browser that must not be accepted."""


class CounterRegressed(Exception):
    """A correct response whose counter is not above the last one: another device has the key, too."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered passkey. Binary values are in base64url without padding.

    Args:
        key: the public key, a COSE_Key.
        user: the user handle that it was registered for.
        count: the signature counter of the last response; 0 if the authenticator has none.
        is_synced: whether it can be copied to other devices (the flag BE), which never changes.
        is_backed_up: whether it was copied, or backed up (the flag BS).
        is_attested: whether its attestation leads to one of the configured root certificates.
        transports: how browsers reach it.
        last: the challenge of the last response.
    """

    id: str
    key: str
    user: str
    count: int
    is_synced: bool
    is_backed_up: bool
    is_attested: bool
    transports: tuple[str, ...] = ()
    last: str = ""

    @property
    def descriptor(self) -> PublicKeyCredentialDescriptor:
        """The passkey in lists of options."""
        transports = [AuthenticatorTransport(name) for name in self.transports]
        return PublicKeyCredentialDescriptor(id=to_bytes(self.id), transports=transports or None)


def creation_options(
    party: RelyingParty, challenge: bytes, user: str, account: str, name: str, held: Sequence[Passkey]
) -> dict[str, Any]:
    """Return the options of a registration, as JSON for ``parseCreationOptionsFromJSON``.

    Args:
        challenge: random bytes.
        user: the user handle, in base64url.
        account: the name by which the user recognises the account.
        held: the passkeys of the user; an authenticator with one of them refuses.
    """
    options = generate_registration_options(
        rp_id=party.id,
        rp_name=party.name,
        user_id=to_bytes(user),
        user_name=account,
        user_display_name=name or account,
        challenge=challenge,
        timeout=TIMEOUT,
        attestation=AttestationConveyancePreference.DIRECT
        if party.roots
        else AttestationConveyancePreference.NONE,
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            require_resident_key=True,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[passkey.descriptor for passkey in held],
        supported_pub_key_algs=list(ALGORITHMS),
    )
    return options_to_json_dict(options)


def request_options(party: RelyingParty, challenge: bytes, allowed: Sequence[Passkey]) -> dict[str, Any]:
    """Return the options of a login, as JSON for ``parseRequestOptionsFromJSON``.

    Args:
        challenge: random bytes.
        allowed: the passkeys of the user; empty if any passkey of the server may answer.
    """
    options = generate_authentication_options(
        rp_id=party.id,
        challenge=challenge,
        timeout=TIMEOUT,
        allow_credentials=[passkey.descriptor for passkey in allowed],
        # Never "preferred": a browser may then skip it, such as on a laptop with a closed lid.
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def register(party: RelyingParty, challenge: str, user: str, response: Any) -> Passkey:
    """Check the response to :func:`creation_options` (WebAuthn, section 7.1); return the passkey.

    Args:
        challenge: the challenge, in base64url.
        user: the user handle, in base64url.
        response: the JSON of ``credential.toJSON()``, or anything else.

    Raises:
        Refused: the response is not acceptable.
    """
    _require_form(response, ("clientDataJSON", "attestationObject"))
    try:
        verified = verify_registration_response(
            credential=response,
            expected_challenge=to_bytes(challenge),
            expected_rp_id=party.id,
            expected_origin=list(party.origins),
            require_user_verification=True,
            supported_pub_key_algs=list(ALGORITHMS),
        )
        _require_sound_key(verified.credential_public_key)
    except Exception as error:
        # The parsers below the library raise whatever a stranger's bytes cause.
        raise Refused("is no valid registration") from error
    _require_client_data(response, challenge)
    identifier = to_text(verified.credential_id)
    if response["id"] != identifier or len(verified.credential_id) > MAX_ID_BYTES:
        raise Refused("has an unacceptable credential id")
    attestation = parse_attestation_object(verified.attestation_object)
    flags, certificates = attestation.auth_data.flags, attestation.att_stmt.x5c
    if party.roots is None and (verified.fmt not in _UNATTESTED or certificates):
        raise Refused("has an attestation, which was not requested")
    return Passkey(
        id=identifier,
        key=to_text(verified.credential_public_key),
        user=user,
        count=verified.sign_count,
        is_synced=flags.be,
        is_backed_up=flags.bs,
        is_attested=bool(certificates) and _is_attested(party, challenge, response, verified.fmt),
        transports=_transports(response),
    )


def authenticate(
    party: RelyingParty, challenge: str, passkey: Passkey, response: Any, *, is_discovered: bool
) -> Passkey:
    """Check the response to :func:`request_options` (WebAuthn, section 7.2).

    Args:
        challenge: the challenge, in base64url.
        passkey: the passkey that the response names.
        response: the JSON of ``credential.toJSON()``, or anything else.
        is_discovered: whether the passkey has named the user, so that it must state the user handle.

    Returns the passkey with the values of this response.

    Raises:
        Refused: the response is not acceptable.
        CounterRegressed: it is correct, except that its counter is not above the last one.
    """
    _require_form(response, ("clientDataJSON", "authenticatorData", "signature"))
    if response["id"] != passkey.id or challenge == passkey.last:
        raise Refused("is of another passkey, or was used before")
    try:
        verified = verify_authentication_response(
            credential=response,
            expected_challenge=to_bytes(challenge),
            expected_rp_id=party.id,
            expected_origin=list(party.origins),
            credential_public_key=to_bytes(passkey.key),
            # The library compares counters before it verifies the signature; a forged response must not
            # look like a copied passkey, so that is done below.
            credential_current_sign_count=0,
            require_user_verification=True,
        )
        data = parse_authenticator_data(to_bytes(response["response"]["authenticatorData"]))
    except Exception as error:
        # The parsers below the library raise whatever a stranger's bytes cause.
        raise Refused("is no valid assertion") from error
    _require_client_data(response, challenge)
    _require_user(response["response"].get("userHandle"), passkey.user, is_discovered)
    if data.flags.be != passkey.is_synced:
        raise Refused("has changed whether it can be copied")
    # Synced passkeys have no counter: they always send 0.
    if (verified.new_sign_count or passkey.count) and verified.new_sign_count <= passkey.count:
        raise CounterRegressed
    return replace(passkey, count=verified.new_sign_count, is_backed_up=data.flags.bs, last=challenge)


def _require_form(response: Any, binary: Sequence[str]) -> None:
    """Require the JSON of a credential with values in base64url, which the library decodes laxly."""
    inner = response.get("response") if isinstance(response, dict) else None
    if not isinstance(inner, dict):
        raise Refused("is no JSON of a credential")
    values = [response.get("id"), response.get("rawId"), *(inner.get(name) for name in binary)]
    if not all(isinstance(value, str) and _BASE64URL.fullmatch(value) for value in values):
        raise Refused("lacks a value in base64url")


def _require_client_data(response: Json, challenge: str) -> None:
    data = json.loads(to_bytes(response["response"]["clientDataJSON"]))
    if data["challenge"] != challenge:
        raise Refused("has another challenge")
    # A page in a frame of another site could make the user answer unknowingly.
    if data.get("crossOrigin", False) is not False or "topOrigin" in data:
        raise Refused("comes from a frame of another origin")


def _require_user(handle: Any, user: str, is_discovered: bool) -> None:
    if handle is None and not is_discovered:
        return
    if handle != user:
        raise Refused("is of another user")


def _require_sound_key(cose_key: bytes) -> None:
    """Require a key that the algorithm it names can use, because later logins verify with both."""
    decoded = decode_credential_public_key(cose_key)
    key = decoded_public_key_to_cryptography(decoded)
    kinds = {
        COSEAlgorithmIdentifier.EDDSA: isinstance(key, Ed25519PublicKey),
        COSEAlgorithmIdentifier.ECDSA_SHA_256: isinstance(key, EllipticCurvePublicKey)
        and isinstance(key.curve, SECP256R1),
        COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256: isinstance(key, RSAPublicKey)
        and MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS,
    }
    if not kinds[decoded.alg]:
        raise Refused("has a key that does not fit its algorithm")


def _is_attested(party: RelyingParty, challenge: str, response: Json, fmt: AttestationFormat) -> bool:
    """Return whether the certificates of an attestation lead to a configured root."""
    try:
        verify_registration_response(
            credential=dict(response),
            expected_challenge=to_bytes(challenge),
            expected_rp_id=party.id,
            expected_origin=list(party.origins),
            require_user_verification=True,
            supported_pub_key_algs=list(ALGORITHMS),
            pem_root_certs_bytes_by_fmt={fmt: [party.roots or b""]},
        )
    except Exception:
        return False
    return True


def _transports(response: Json) -> tuple[str, ...]:
    stated = response["response"].get("transports")
    known = stated if isinstance(stated, list) else []
    return tuple(sorted({name for name in known if isinstance(name, str) and name in _TRANSPORTS}))


def to_bytes(text: str) -> bytes:
    """Decode base64url without padding."""
    return urlsafe_b64decode(f"{text}===")


def to_text(data: bytes) -> str:
    """Encode base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()
