"""Verification of version 4 signatures.

A request is signed either in its ``Authorization`` header or in its query. Both name a scope (access
key, day, region, product); the signature covers the method, the bucket and key, the whole query, the
headers that must be signed (``Content-Type``, ``Content-MD5``, ``x-oss-*``) and those the client adds.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from strongroom_simulators.oss.errors import OssError, access_denied, invalid_argument
from strongroom_simulators.oss.request import Request

ALGORITHM = "OSS4-HMAC-SHA256"
TERMINATOR = "aliyun_v4_request"
UNSIGNED_PAYLOAD = "UNSIGNED-PAYLOAD"
LARGEST_SKEW = timedelta(minutes=15)
LONGEST_LIFETIME = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Account:
    """The account that may make requests; a temporary one has a security token."""

    access_key_id: str = "simulator"
    access_key_secret: str = field(default="simulator-secret", repr=False)
    security_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """The signature parameters of a request."""

    credential: str
    timestamp: str
    additional_headers: tuple[str, ...]
    signature: str
    security_token: str | None

    @property
    def access_key_id(self) -> str:
        """The id of the access key that signed the request."""
        return self.credential.partition("/")[0]

    @property
    def scope(self) -> str:
        """Day, region, product and terminator, joined by slashes."""
        return self.credential.partition("/")[2]


class SignatureVerifier:
    """Verifies the account, age, region and signature of requests."""

    def __init__(self, account: Account, region: str) -> None:
        self._account = account
        self._region = region

    def verify(self, request: Request) -> None:
        """Verify a request.

        Raises:
            OssError: the request is not signed correctly, or its signature has expired.
        """
        if "Authorization" in request.headers:
            claim = _claim_of_header(request)
            _check_skew(claim, request.received_at)
        elif "x-oss-signature-version" in request.parameters:
            claim = _claim_of_query(request)
            _check_lifetime(claim, request.parameters.get("x-oss-expires", ""), request.received_at)
        else:
            raise access_denied("Anonymous access is forbidden for this operation.")
        self._check_account(claim)
        self._check_scope(claim)
        self._check_signature(claim, request)

    def _check_account(self, claim: Claim) -> None:
        if claim.access_key_id != self._account.access_key_id:
            message = "The OSS Access Key Id you provided does not exist in our records."
            raise OssError(403, "InvalidAccessKeyId", message, OSSAccessKeyId=claim.access_key_id)
        if claim.security_token != self._account.security_token:
            raise OssError(403, "InvalidSecurityToken", "The security token you provided is invalid.")

    def _check_scope(self, claim: Claim) -> None:
        expected = {
            "date": claim.timestamp[:8],
            "region": self._region,
            "product": "oss",
            "terminator": TERMINATOR,
        }
        given = claim.scope.split("/")
        if len(given) != len(expected):
            raise invalid_argument("The credential is malformed.", Credential=claim.credential)
        for (name, right), value in zip(expected.items(), given, strict=True):
            if value != right:
                raise invalid_argument(f"Invalid signing {name} in Authorization header.")

    def _check_signature(self, claim: Claim, request: Request) -> None:
        canonical = canonical_request(request, claim.additional_headers)
        to_sign = string_to_sign(claim.timestamp, claim.scope, canonical)
        expected = sign(self._account.access_key_secret, claim.scope, to_sign)
        if not hmac.compare_digest(expected.encode(), claim.signature.encode()):
            raise OssError(
                403,
                "SignatureDoesNotMatch",
                "The request signature we calculated does not match the signature you provided.",
                OSSAccessKeyId=claim.access_key_id,
                SignatureProvided=claim.signature,
                StringToSign=to_sign,
                CanonicalRequest=canonical,
            )


def canonical_request(request: Request, additional_headers: Iterable[str]) -> str:
    """Return the text that a signature covers."""
    query = sorted(
        (quote(name, safe=""), quote(value, safe=""))
        for name, value in request.parameters.items()
        if name != "x-oss-signature"
    )
    additional = sorted(name.lower() for name in additional_headers)
    signed = sorted(
        (name.lower(), value.strip())
        for name, value in request.headers.items()
        if _must_be_signed(name.lower()) or name.lower() in additional
    )
    resource = f"/{request.bucket}/{request.key}" if request.bucket else "/"
    return "\n".join(
        (
            request.method,
            quote(resource, safe="/"),
            "&".join(f"{name}={value}" if value else name for name, value in query),
            "".join(f"{name}:{value}\n" for name, value in signed),
            ";".join(additional),
            request.headers.get("x-oss-content-sha256", UNSIGNED_PAYLOAD),
        )
    )


def string_to_sign(timestamp: str, scope: str, canonical: str) -> str:
    """Return the string to sign for a canonical request."""
    return "\n".join((ALGORITHM, timestamp, scope, hashlib.sha256(canonical.encode()).hexdigest()))


def sign(secret: str, scope: str, text: str) -> str:
    """Return the signature of ``text``: the key is derived from the secret step by step."""
    key = f"aliyun_v4{secret}".encode()
    for step in scope.split("/"):
        key = hmac.digest(key, step.encode(), "sha256")
    return hmac.digest(key, text.encode(), "sha256").hex()


def _check_skew(claim: Claim, now: datetime) -> None:
    if abs(now - _parse_timestamp(claim.timestamp)) > LARGEST_SKEW:
        message = "The difference between the request time and the current time is too large."
        raise OssError(403, "RequestTimeTooSkewed", message, RequestTime=claim.timestamp)


def _check_lifetime(claim: Claim, expires: str, now: datetime) -> None:
    if not expires.isdecimal() or not 0 < int(expires) <= LONGEST_LIFETIME:
        raise invalid_argument("x-oss-expires must be 1 to 604800 seconds.", Expires=expires)
    start = _parse_timestamp(claim.timestamp)
    if now < start - LARGEST_SKEW:
        raise access_denied("Request is not valid yet.", ServerTime=now.isoformat())
    if now > start + timedelta(seconds=int(expires)):
        raise access_denied("Request has expired.", Expires=expires, ServerTime=now.isoformat())


def _must_be_signed(name: str) -> bool:
    return name in ("content-type", "content-md5") or name.startswith("x-oss-")


def _claim_of_header(request: Request) -> Claim:
    algorithm, _, rest = request.headers["Authorization"].partition(" ")
    if algorithm != ALGORITHM:
        raise invalid_argument(f"The authorization mechanism must be {ALGORITHM}.")
    if request.headers.get("x-oss-content-sha256") != UNSIGNED_PAYLOAD:
        raise invalid_argument(f"The header x-oss-content-sha256 must be {UNSIGNED_PAYLOAD}.")
    fields = dict(re.findall(r"(\w+)=([^,\s]*)", rest))
    return Claim(
        credential=fields.get("Credential", ""),
        timestamp=request.headers.get("x-oss-date", ""),
        additional_headers=_split(fields.get("AdditionalHeaders", "")),
        signature=fields.get("Signature", ""),
        security_token=request.headers.get("x-oss-security-token"),
    )


def _claim_of_query(request: Request) -> Claim:
    parameters = request.parameters
    if parameters["x-oss-signature-version"] != ALGORITHM:
        raise invalid_argument(f"The signature version must be {ALGORITHM}.")
    return Claim(
        credential=parameters.get("x-oss-credential", ""),
        timestamp=parameters.get("x-oss-date", ""),
        additional_headers=_split(parameters.get("x-oss-additional-headers", "")),
        signature=parameters.get("x-oss-signature", ""),
        security_token=parameters.get("x-oss-security-token"),
    )


def _split(names: str) -> tuple[str, ...]:
    return tuple(name for name in names.split(";") if name)


def _parse_timestamp(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise access_denied("OSS authentication requires a valid Date.") from None
