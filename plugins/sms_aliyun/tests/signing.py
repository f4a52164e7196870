"""Requests for the gateway, signed by the vendor's own code and never by the simulator's."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from urllib.parse import urlencode
from uuid import uuid4

from alibabacloud_tea_openapi.utils import Utils  # type: ignore[import-untyped]

from strongroom_simulators.sms import Account
from strongroom_simulators.sms.messages import ApiRequest

ACCOUNT = Account()
A_MESSAGE = {
    "PhoneNumbers": "13812345678",
    "SignName": "Strongroom",
    "TemplateCode": "SMS_100000001",
    "TemplateParam": '{"code": "123456"}',
}


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def acs3_headers(at: float, action: str = "SendSms") -> dict[str, str]:
    return {
        "host": "dysmsapi.aliyuncs.com",
        "x-acs-action": action,
        "x-acs-version": "2017-05-25",
        "x-acs-date": timestamp(at),
        "x-acs-signature-nonce": uuid4().hex,
        "x-acs-content-sha256": sha256(b"").hexdigest(),
    }


def acs3_request(
    query: Mapping[str, str], headers: Mapping[str, str], *, form: Mapping[str, str] | None = None
) -> ApiRequest:
    """Return a request of signature version 3, its parameters in the URL, the body, or both."""
    body = urlencode(form or {}).encode()
    digest = sha256(body).hexdigest()
    headers = {**headers, "x-acs-content-sha256": digest}
    signed = SimpleNamespace(method="POST", pathname="/", query=dict(query), headers=dict(headers))
    authorization = Utils.get_authorization(
        signed, "ACS3-HMAC-SHA256", digest, ACCOUNT.access_key_id, ACCOUNT.access_key_secret
    )
    return ApiRequest("POST", "/", query, form or {}, {**headers, "authorization": authorization}, body)


def rpc_parameters(at: float, action: str = "SendSms") -> dict[str, str]:
    return {
        "Action": action,
        "Version": "2017-05-25",
        "Format": "JSON",
        "AccessKeyId": ACCOUNT.access_key_id,
        "SignatureMethod": "HMAC-SHA1",
        "SignatureVersion": "1.0",
        "SignatureNonce": uuid4().hex,
        "Timestamp": timestamp(at),
    }


def rpc_request(parameters: Mapping[str, str], *, method: str = "GET") -> ApiRequest:
    """Return a request of signature version 1.0; GET has its parameters in the URL, POST in the body."""
    signature = Utils.get_rpcsignature(dict(parameters), method, ACCOUNT.access_key_secret)
    signed = {**parameters, "Signature": signature}
    query, form = (signed, {}) if method == "GET" else ({}, signed)
    return ApiRequest(method, "/", query, form, {})
