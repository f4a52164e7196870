"""Requests, answers and retries, against a real server."""

import json
import socket
from dataclasses import replace

import pytest

from strongroom_login_oauth.errors import CodeInvalid, ProviderUnavailable
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.options import WeChatOptions
from strongroom_simulators.wechat import Platform

PATH = "/sns/userinfo"


def test_a_busy_platform_is_called_again_after_growing_pauses(
    client: WeChatApi, vendor: Platform, pauses: list[float]
) -> None:
    vendor.failures.plan(PATH, -1, times=2)
    vendor.failures.plan_answer(PATH, b'{"openid": "o1"}')
    assert client.get(PATH).text("openid") == "o1"
    assert pauses == [0.2, 0.4]


def test_a_platform_that_stays_busy_is_unavailable(
    client: WeChatApi, vendor: Platform, pauses: list[float]
) -> None:
    vendor.failures.plan(PATH, -1, times=5)
    with pytest.raises(ProviderUnavailable):
        client.get(PATH)
    assert vendor.requests[PATH] == 3
    assert len(pauses) == 2


def test_other_errors_are_not_retried(client: WeChatApi, vendor: Platform, pauses: list[float]) -> None:
    vendor.failures.plan(PATH, 40029, times=5)
    with pytest.raises(CodeInvalid):
        client.get(PATH)
    assert vendor.requests[PATH] == 1
    assert pauses == []


def test_a_text_plain_answer_is_read_as_utf_8(client: WeChatApi, vendor: Platform) -> None:
    body = json.dumps({"nickname": "林小雨 🌅"}, ensure_ascii=False).encode()
    vendor.failures.plan_answer(PATH, body)
    assert client.get(PATH).text("nickname") == "林小雨 🌅"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>Bad Gateway</html>", 502),
        (b'{"openid": "o1"}', 500),
        (b"", 200),
        (b"[]", 200),
        (b'{"nickname": "\xff"}', 200),
        (b'{"errcode": "many"}', 200),
    ],
)
def test_an_answer_that_makes_no_sense_is_the_platforms_failure(
    body: bytes, status: int, client: WeChatApi, vendor: Platform
) -> None:
    vendor.failures.plan_answer(PATH, body, status=status)
    with pytest.raises(ProviderUnavailable):
        client.get(PATH)


def test_the_errcode_counts_and_not_the_status(client: WeChatApi, vendor: Platform) -> None:
    vendor.failures.plan_answer(PATH, b'{"errcode": 40029}', status=412)
    with pytest.raises(CodeInvalid):
        client.get(PATH)


@pytest.mark.parametrize("value", ['""', "null", "7", "{}"])
def test_a_member_that_must_be_a_text_is_one(value: str, client: WeChatApi, vendor: Platform) -> None:
    vendor.failures.plan_answer(PATH, f'{{"openid": {value}}}'.encode())
    with pytest.raises(ProviderUnavailable, match="openid"):
        client.get(PATH).text("openid")


def test_a_redirect_is_not_followed_with_the_secret_in_hand(client: WeChatApi, vendor: Platform) -> None:
    vendor.failures.plan_answer(PATH, b"{}", status=302, headers={"Location": "/elsewhere"})
    with pytest.raises(ProviderUnavailable, match="status 302"):
        client.get(PATH, secret="s")
    assert list(vendor.requests) == [PATH]


def test_no_cookie_is_kept_from_one_persons_answer_to_anothers_request(
    client: WeChatApi, vendor: Platform
) -> None:
    vendor.failures.plan_answer(PATH, b"{}", headers={"Set-Cookie": "person=lin; Path=/"})
    client.get(PATH)
    assert not list(client._client._session.cookies)


def test_a_platform_that_is_away_is_unavailable(options: WeChatOptions) -> None:
    # Bound, so that no other process takes it meanwhile.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        client = WeChatApi(replace(options, api_url=url))
        with pytest.raises(ProviderUnavailable, match="ConnectionError"):
            client.get(PATH)
        client.close()


def test_a_platform_that_does_not_respond_in_time_is_called_once(
    options: WeChatOptions, pauses: list[float]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = WeChatApi(replace(options, api_url=url, read_timeout=0.1), sleep=pauses.append)
        with pytest.raises(ProviderUnavailable, match="ReadTimeout"):
            client.get(PATH)
        client.close()
    assert pauses == []
