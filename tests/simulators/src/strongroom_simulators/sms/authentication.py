"""Authentication of requests: signature, time and nonce."""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import NoReturn

from strongroom_simulators.sms.messages import ApiError, ApiRequest
from strongroom_simulators.sms.signatures import (
    acs3_canonical_request,
    acs3_signature,
    rpc_signature,
    rpc_string_to_sign,
)

TOLERANCE_SECONDS = 15 * 60
RPC_PARAMETERS = (
    "Action",
    "Version",
    "AccessKeyId",
    "SignatureMethod",
    "SignatureVersion",
    "SignatureNonce",
    "Timestamp",
    "Signature",
)
ACS3_HEADERS = (
    "x-acs-action",
    "x-acs-version",
    "x-acs-date",
    "x-acs-signature-nonce",
    "x-acs-content-sha256",
)
AUTHORIZATION = re.compile(
    r"ACS3-HMAC-SHA256\s+Credential=(?P<key>[^,]+),\s*SignedHeaders=(?P<headers>[^,]+),"
    r"\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True, slots=True)
class Call:
    """An authenticated request for an action of a version of the API."""

    action: str
    version: str
    parameters: Mapping[str, str]


class Authenticator:
    """Checks signature, time and nonce, in signature versions 1.0 (RPC) and 3 (ACS3).

    Args:
        secrets: secrets of access keys by their ids.
        clock: the time in seconds since the Unix epoch.
    """

    def __init__(self, secrets: Mapping[str, str], clock: Callable[[], float]) -> None:
        self._secrets = secrets
        self._clock = clock
        self._nonces: dict[str, float] = {}
        self._lock = Lock()

    def authenticate(self, request: ApiRequest) -> Call:
        """Authenticate a request and return its call.

        Raises:
            ApiError: the request is malformed, expired, replayed, or its signature is wrong.
        """
        if "authorization" in request.headers:
            return self._authenticate_acs3(request)
        return self._authenticate_rpc(request)

    def _authenticate_rpc(self, request: ApiRequest) -> Call:
        given = request.parameters
        _require(RPC_PARAMETERS, given)
        if (given["SignatureMethod"], given["SignatureVersion"]) != ("HMAC-SHA1", "1.0"):
            raise _bad_request("InvalidParameter", "The specified signature method is not supported.")
        self._check_time(given["Timestamp"])
        expected = rpc_signature(request.method, given, self._secret(given["AccessKeyId"]))
        if not hmac.compare_digest(expected.encode(), given["Signature"].encode()):
            _mismatch(rpc_string_to_sign(request.method, given))
        self._spend_nonce(given["SignatureNonce"])
        return Call(given["Action"], given["Version"], given)

    def _authenticate_acs3(self, request: ApiRequest) -> Call:
        headers = request.headers
        _require(ACS3_HEADERS, headers)
        match = AUTHORIZATION.fullmatch(headers["authorization"])
        if match is None:
            raise _bad_request(
                "IncompleteSignature", "The request signature does not conform to standards."
            )
        signed = match["headers"].split(";")
        self._check_signed_headers(request, signed)
        self._check_time(headers["x-acs-date"])
        canonical = acs3_canonical_request(
            method=request.method,
            path=request.path,
            query=request.query,
            headers=headers,
            signed_headers=signed,
            payload_hash=headers["x-acs-content-sha256"],
        )
        expected = acs3_signature(canonical, self._secret(match["key"]))
        if not hmac.compare_digest(expected, match["signature"]):
            _mismatch(canonical)
        self._spend_nonce(headers["x-acs-signature-nonce"])
        return Call(headers["x-acs-action"], headers["x-acs-version"], request.parameters)

    def _check_signed_headers(self, request: ApiRequest, signed: list[str]) -> None:
        unsigned = {"host", *(name for name in request.headers if name.startswith("x-acs-"))} - set(
            signed
        )
        if unsigned:
            raise _bad_request(
                "IncompleteSignature", f"The header {min(unsigned)} must be among SignedHeaders."
            )
        if hashlib.sha256(request.body).hexdigest() != request.headers["x-acs-content-sha256"]:
            raise _bad_request("InvalidContentSha256", "x-acs-content-sha256 does not match the body.")

    def _secret(self, access_key_id: str) -> str:
        if access_key_id not in self._secrets:
            raise ApiError(
                "InvalidAccessKeyId.NotFound", "Specified access key is not found.", status=404
            )
        return self._secrets[access_key_id]

    def _check_time(self, text: str) -> None:
        try:
            stamp = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise _bad_request(
                "InvalidTimeStamp.Format", "Specified time stamp or date value is not well formatted."
            ) from None
        if abs(self._clock() - stamp) > TOLERANCE_SECONDS:
            raise _bad_request(
                "InvalidTimeStamp.Expired", "Specified time stamp or date value is expired."
            )

    def _spend_nonce(self, nonce: str) -> None:
        now = self._clock()
        # Older requests are refused because of their time, so their nonces need not be remembered.
        forgotten = now - 2 * TOLERANCE_SECONDS
        with self._lock:
            self._nonces = {known: at for known, at in self._nonces.items() if at > forgotten}
            if nonce in self._nonces:
                raise _bad_request("SignatureNonceUsed", "Specified signature nonce was used already.")
            self._nonces[nonce] = now


def _require(names: tuple[str, ...], given: Mapping[str, str]) -> None:
    for name in names:
        if not given.get(name):
            message = f'The input parameter "{name}" that is mandatory for this request is not supplied.'
            raise _bad_request("MissingParameter", message)


def _mismatch(signed: str) -> NoReturn:
    # Like the real gateway, this repeats the whole request, including the message's parameters.
    message = (
        f"Specified signature is not matched with our calculation. server string to sign is:{signed}"
    )
    raise _bad_request("SignatureDoesNotMatch", message)


def _bad_request(code: str, message: str) -> ApiError:
    return ApiError(code, message, status=400)
