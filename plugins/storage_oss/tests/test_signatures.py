"""The simulator accepts requests with valid signatures, and no others."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.message import Message
from io import BytesIO
from typing import Any

import pytest

from strongroom_simulators.oss import Account, OssSimulator
from strongroom_simulators.oss.request import Request, SizedBody
from strongroom_simulators.oss.signature import canonical_request, sign, string_to_sign

Send = Callable[..., Any]


class TestWithTheClockStopped:
    """The account is a temporary one here, so that every request carries its token too."""

    account = Account("temporary", "its-secret", "its-token")

    @pytest.fixture
    def simulator(self, clock: Any) -> Iterator[OssSimulator]:
        with OssSimulator(["files"], account=self.account, clock=clock) as server:
            yield server

    @pytest.fixture
    def attempt(self, send: Send, clock: Any) -> Send:
        def attempt(**changes: Any) -> Any:
            fields = {
                "access_key_id": self.account.access_key_id,
                "secret": self.account.access_key_secret,
                "security_token": self.account.security_token,
                "moment": clock.now,
                "body": b"",
                **changes,
            }
            return send("PUT", "some/key", **fields)

        return attempt

    def test_a_right_signature_is_let_in(self, attempt: Send) -> None:
        assert attempt().status == 200

    def test_a_wrong_secret_is_refused(self, attempt: Send) -> None:
        answer = attempt(secret="guessed")
        assert (answer.status, answer.code) == (403, "SignatureDoesNotMatch")

    def test_an_unknown_access_key_is_refused(self, attempt: Send) -> None:
        answer = attempt(access_key_id="nobody")
        assert (answer.status, answer.code) == (403, "InvalidAccessKeyId")

    @pytest.mark.parametrize("token", [None, "another"])
    def test_a_missing_or_wrong_token_is_refused(self, attempt: Send, token: str | None) -> None:
        answer = attempt(security_token=token)
        assert (answer.status, answer.code) == (403, "InvalidSecurityToken")

    def test_another_region_is_refused(self, attempt: Send) -> None:
        answer = attempt(region="cn-shanghai")
        assert (answer.status, answer.code) == (400, "InvalidArgument")
        assert "region" in answer.xml.findtext("Message")

    @pytest.mark.parametrize(
        "header", ["Content-Type", "Content-MD5", "x-oss-meta-owner", "x-oss-forbid-overwrite"]
    )
    def test_a_header_that_was_changed_or_added_is_refused(self, attempt: Send, header: str) -> None:
        changed = attempt(headers={header: "signed"}, tampered={header: "changed"})
        added = attempt(tampered={header: "added"})
        assert [changed.code, added.code] == ["SignatureDoesNotMatch"] * 2

    def test_an_additional_header_is_protected_where_it_was_signed(self, attempt: Send) -> None:
        headers, tampered = {"X-Trace": "one"}, {"X-Trace": "two"}
        signed = frozenset({"x-trace"})
        assert attempt(headers=headers, tampered=tampered).status == 200
        assert attempt(headers=headers, additional_headers=signed).status == 200
        answer = attempt(headers=headers, tampered=tampered, additional_headers=signed)
        assert answer.code == "SignatureDoesNotMatch"

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_clock_that_is_off_by_more_than_a_quarter_of_an_hour_is_refused(
        self, attempt: Send, clock: Any, sign: int
    ) -> None:
        edge = timedelta(minutes=15)
        assert attempt(moment=clock.now + sign * edge).status == 200
        answer = attempt(moment=clock.now + sign * (edge + timedelta(seconds=1)))
        assert (answer.status, answer.code) == (403, "RequestTimeTooSkewed")

    def test_a_date_other_than_the_one_signed_is_refused(self, attempt: Send, clock: Any) -> None:
        later = (clock.now + timedelta(seconds=1)).strftime("%Y%m%dT%H%M%SZ")
        assert attempt(tampered={"x-oss-date": later}).code == "SignatureDoesNotMatch"

    def test_no_date_at_all_is_refused(self, attempt: Send) -> None:
        assert attempt(tampered={"x-oss-date": ""}).code == "AccessDenied"


def test_a_request_without_a_signature_is_refused(exchange: Send) -> None:
    answer = exchange("GET", "/files/key", {})
    assert (answer.status, answer.code) == (403, "AccessDenied")


def test_another_kind_of_signature_is_refused(exchange: Send) -> None:
    answer = exchange("GET", "/files/key", {"Authorization": "OSS simulator:bm90IHRoaXMgb25l"})
    assert (answer.status, answer.code) == (400, "InvalidArgument")


def test_another_key_method_or_query_than_signed_is_refused(
    simulator: OssSimulator, send: Send, exchange: Send, sign_by_hand: Send
) -> None:
    send("PUT", "a", body=b"a")
    send("PUT", "b", body=b"b")
    target, headers = sign_by_hand("GET", "a").sign(simulator.endpoint)
    assert exchange("GET", target, headers).body == b"a"
    assert exchange("GET", "/files/b", headers).code == "SignatureDoesNotMatch"
    assert exchange("DELETE", target, headers).code == "SignatureDoesNotMatch"
    assert exchange("GET", f"{target}?response-content-type=x", headers).code == "SignatureDoesNotMatch"


# Published by the vendor, in the tests of its libraries.
VECTORS = [
    (
        "20231216T162057Z",
        {},
        (),
        "e21d18daa82167720f9b1047ae7e7f1ce7cb77a31e8203a7d5f4624fa0284afe",
    ),
    (
        "20231217T034736Z",
        {"x-oss-security-token": "token"},
        (),
        "b94a3f999cf85bcdc00d332fbd3734ba03e48382c36fa4d5af5df817395bd9ea",
    ),
    (
        "20231216T172512Z",
        {},
        ("abc", "ZAbc"),
        "4a4183c187c07c8947db7620deb0a6b38d9fbdd34187b6dbaccb316fa251212f",
    ),
]


@pytest.mark.parametrize(("timestamp", "more", "additional", "signature"), VECTORS)
def test_signatures_are_those_the_vendor_publishes(
    timestamp: str, more: dict[str, str], additional: tuple[str, ...], signature: str
) -> None:
    headers = Message()
    given = {
        "Host": "bucket.oss-cn-hangzhou.aliyuncs.com",
        "x-oss-head1": "value",
        "abc": "value",
        "ZAbc": "value",
        "XYZ": "value",
        "content-type": "text/plain",
        "x-oss-content-sha256": "UNSIGNED-PAYLOAD",
        "x-oss-date": timestamp,
        **more,
    }
    for name, value in given.items():
        headers[name] = value
    query = "param1=value1&%2Bparam1=value3&%7Cparam1=value4&%2Bparam2=&%7Cparam2&param2"
    request = Request(
        "PUT", f"/1234%2B-/123/1.txt?{query}", headers, SizedBody(BytesIO(), 0), datetime.now(UTC)
    )
    scope = f"{timestamp[:8]}/cn-hangzhou/oss/aliyun_v4_request"
    text = string_to_sign(timestamp, scope, canonical_request(request, additional))
    assert sign("sk", scope, text) == signature
