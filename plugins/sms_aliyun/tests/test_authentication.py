"""Authentication at the simulated gateway: either signature, recent, unaltered and used once."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from strongroom_simulators.sms import Gateway

from .conftest import Clock
from .signing import A_MESSAGE, acs3_headers, acs3_request, rpc_parameters, rpc_request

QUARTER_HOUR = 15 * 60


def without(values: Mapping[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in values.items() if key != name}


@pytest.mark.parametrize("in_body", [False, True])
def test_version_3_is_let_in_with_parameters_in_url_or_body(
    gateway: Gateway, gateway_clock: Clock, in_body: bool
) -> None:
    query, form = ({}, A_MESSAGE) if in_body else (A_MESSAGE, {})
    assert (
        gateway.handle(acs3_request(query, acs3_headers(gateway_clock()), form=form)).body["Code"]
        == "OK"
    )


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_version_1_is_let_in_by_either_method(
    gateway: Gateway, gateway_clock: Clock, method: str
) -> None:
    request = rpc_request({**rpc_parameters(gateway_clock()), **A_MESSAGE}, method=method)
    assert gateway.handle(request).body["Code"] == "OK"


def test_an_altered_parameter_is_refused_in_either_version(
    gateway: Gateway, gateway_clock: Clock
) -> None:
    altered = {"PhoneNumbers": "13912345678"}
    version_1 = rpc_request({**rpc_parameters(gateway_clock()), **A_MESSAGE})
    version_3 = acs3_request(A_MESSAGE, acs3_headers(gateway_clock()))
    for request in (version_1, version_3):
        response = gateway.handle(replace(request, query={**request.query, **altered}))
        assert (response.status, response.body["Code"]) == (400, "SignatureDoesNotMatch")
    assert gateway.deliveries == ()


def test_an_altered_body_is_refused(gateway: Gateway, gateway_clock: Clock) -> None:
    request = acs3_request({}, acs3_headers(gateway_clock()), form=A_MESSAGE)
    response = gateway.handle(replace(request, body=request.body + b"&OutId=1"))
    assert (response.status, response.body["Code"]) == (400, "InvalidContentSha256")


def test_an_unsigned_header_of_the_protocol_is_refused(gateway: Gateway, gateway_clock: Clock) -> None:
    request = acs3_request(A_MESSAGE, acs3_headers(gateway_clock()))
    smuggled = replace(request, headers={**request.headers, "x-acs-security-token": "t"})
    assert gateway.handle(smuggled).body["Code"] == "IncompleteSignature"


@pytest.mark.parametrize("authorization", ["", "Bearer abc", "ACS3-HMAC-SHA256 Credential=simulator"])
def test_a_malformed_authorization_is_refused(
    gateway: Gateway, gateway_clock: Clock, authorization: str
) -> None:
    request = acs3_request(A_MESSAGE, acs3_headers(gateway_clock()))
    malformed = replace(request, headers={**request.headers, "authorization": authorization})
    assert gateway.handle(malformed).body["Code"] == "IncompleteSignature"


@pytest.mark.parametrize("skew", [-QUARTER_HOUR - 1, QUARTER_HOUR + 1])
def test_a_time_far_from_the_gateways_is_refused(
    gateway: Gateway, gateway_clock: Clock, skew: float
) -> None:
    version_1 = rpc_request({**rpc_parameters(gateway_clock() + skew), **A_MESSAGE})
    version_3 = acs3_request(A_MESSAGE, acs3_headers(gateway_clock() + skew))
    for request in (version_1, version_3):
        response = gateway.handle(request)
        assert (response.status, response.body["Code"]) == (400, "InvalidTimeStamp.Expired")


def test_a_time_that_is_none_is_refused(gateway: Gateway, gateway_clock: Clock) -> None:
    headers = {**acs3_headers(gateway_clock()), "x-acs-date": "yesterday"}
    assert gateway.handle(acs3_request(A_MESSAGE, headers)).body["Code"] == "InvalidTimeStamp.Format"


def test_a_request_seen_before_is_refused(gateway: Gateway, gateway_clock: Clock) -> None:
    version_1 = rpc_request(rpc_parameters(gateway_clock(), "QuerySendDetails"))
    version_3 = acs3_request({}, acs3_headers(gateway_clock(), "QuerySendDetails"))
    for request in (version_1, version_3):
        codes = [gateway.handle(request).body["Code"] for _ in range(2)]
        assert codes == ["MissingPhoneNumber", "SignatureNonceUsed"]


def test_a_nonce_is_remembered_as_long_as_its_time_is_good(
    gateway: Gateway, gateway_clock: Clock
) -> None:
    request = acs3_request(A_MESSAGE, acs3_headers(gateway_clock() + QUARTER_HOUR - 1))
    assert gateway.handle(request).body["Code"] == "OK"
    gateway_clock.advance(2 * QUARTER_HOUR - 2)
    assert gateway.handle(request).body["Code"] == "SignatureNonceUsed"


def test_a_refused_request_spends_no_nonce(gateway: Gateway, gateway_clock: Clock) -> None:
    request = acs3_request(A_MESSAGE, acs3_headers(gateway_clock()))
    forged = replace(request, query={**A_MESSAGE, "PhoneNumbers": "13912345678"})
    assert gateway.handle(forged).body["Code"] == "SignatureDoesNotMatch"
    assert gateway.handle(request).body["Code"] == "OK"


def test_an_unknown_access_key_is_not_found(gateway: Gateway, gateway_clock: Clock) -> None:
    parameters = {**rpc_parameters(gateway_clock()), "AccessKeyId": "nobody"}
    response = gateway.handle(rpc_request(parameters))
    assert (response.status, response.body["Code"]) == (404, "InvalidAccessKeyId.NotFound")


@pytest.mark.parametrize("name", sorted(without(rpc_parameters(0), "Format")))
def test_version_1_requires_each_common_parameter(
    gateway: Gateway, gateway_clock: Clock, name: str
) -> None:
    response = gateway.handle(rpc_request(without(rpc_parameters(gateway_clock()), name)))
    assert (response.status, response.body["Code"]) == (400, "MissingParameter")
    assert f'"{name}"' in response.body["Message"]


@pytest.mark.parametrize("name", sorted(name for name in acs3_headers(0) if name.startswith("x-acs")))
def test_version_3_requires_each_common_header(
    gateway: Gateway, gateway_clock: Clock, name: str
) -> None:
    request = acs3_request(A_MESSAGE, acs3_headers(gateway_clock()))
    response = gateway.handle(replace(request, headers=without(request.headers, name)))
    assert (response.status, response.body["Code"]) == (400, "MissingParameter")
    assert f'"{name}"' in response.body["Message"]


def test_another_signature_method_is_refused(gateway: Gateway, gateway_clock: Clock) -> None:
    parameters = {**rpc_parameters(gateway_clock()), "SignatureMethod": "HMAC-MD5"}
    assert gateway.handle(rpc_request(parameters)).body["Code"] == "InvalidParameter"


def test_every_refusal_carries_a_request_id_of_its_own(gateway: Gateway, gateway_clock: Clock) -> None:
    bodies = [gateway.handle(rpc_request({})).body for _ in range(2)]
    assert all(set(body) == {"RequestId", "Code", "Message"} for body in bodies)
    assert bodies[0]["RequestId"] != bodies[1]["RequestId"]
