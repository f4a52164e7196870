"""Logins at the simulated platform, and every trick with a signed answer."""

import json
import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from tests.support.alipay import REDIRECT

from strongroom.plugin_api.login import Credential
from strongroom_login_alipay.options import SILENT, AlipayApp, AlipayOptions
from strongroom_login_alipay.provider import AlipayProvider
from strongroom_login_alipay.signed_answer import members
from strongroom_login_oauth.errors import (
    AnswerInvalid,
    CodeInvalid,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
)
from strongroom_login_oauth.provider import Answer, Start
from strongroom_simulators.alipay import KeyPair, Platform
from strongroom_simulators.alipay.refusals import (
    CALL_LIMITED,
    INVALID_APP_ID,
    INVALID_SIGNATURE,
    INVALID_TIMESTAMP,
    NO_PERMISSION,
    SERVICE_UNAVAILABLE,
    Kind,
)

APP_ID = "2021000000000001"
GATEWAY = "/gateway.do"
TOKEN = "alipay_system_oauth_token_response"
INFO = "alipay_user_info_share_response"
EVIL = '{"access_token":"t","open_id":"evil"}'


def answer(code: str, **parameters: str) -> Answer:
    return Answer(code, REDIRECT, "nonce", "verifier", parameters)


@pytest.fixture
def provider(app: AlipayApp, options: AlipayOptions) -> Iterator[AlipayProvider]:
    provider = AlipayProvider(app, options)
    yield provider
    provider.close()


def test_the_page_gets_the_app_the_scope_and_the_state(provider: AlipayProvider) -> None:
    url = provider.authorize_url(Start("a-state", REDIRECT, "nonce", "challenge"))
    assert parse_qs(urlsplit(url).query) == {
        "app_id": [APP_ID],
        "scope": ["auth_user"],
        "redirect_uri": [REDIRECT],
        "state": ["a-state"],
    }
    assert requests.get(url, timeout=30).status_code == 200


def test_a_new_app_identifies_a_person_by_open_id(vendor: Platform, provider: AlipayProvider) -> None:
    identity = provider.identify(answer(vendor.authorize(APP_ID, "lin")))
    (open_id,) = vendor.apps[APP_ID].person_id(vendor.people["lin"]).values()
    assert identity.credential == Credential("alipay", f"{APP_ID}:o:{open_id}")
    assert (identity.also, identity.display_name) == ((), "林小雨")


def test_an_older_app_identifies_a_person_by_user_id(vendor: Platform, provider: AlipayProvider) -> None:
    vendor.apps[APP_ID].has_open_ids = False
    identity = provider.identify(answer(vendor.authorize(APP_ID, "lin")))
    assert identity.credential == Credential("alipay", f"u:{vendor.people['lin'].user_id}")


def test_names_with_braces_quotes_and_emoji_pass_the_signature(
    vendor: Platform, provider: AlipayProvider
) -> None:
    identity = provider.identify(answer(vendor.authorize(APP_ID, "wei")))
    assert identity.display_name == vendor.people["wei"].nick_name


def test_without_the_right_to_the_name_a_login_has_none(
    vendor: Platform, provider: AlipayProvider
) -> None:
    vendor.apps[APP_ID].has_member_information = False
    assert provider.identify(answer(vendor.authorize(APP_ID, "lin"))).display_name is None


def test_a_silent_login_asks_for_no_name(
    vendor: Platform, app: AlipayApp, options: AlipayOptions
) -> None:
    provider = AlipayProvider(replace(app, scope=SILENT), options)
    assert provider.identify(answer(vendor.authorize(APP_ID, "lin", scope=SILENT))).display_name is None
    assert vendor.requests[GATEWAY] == 1


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Asia/Shanghai", "Pacific/Kiritimati", "UTC"])
def test_the_zone_of_this_machine_does_not_matter(
    vendor: Platform, provider: AlipayProvider, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "TZ", zone)
    time.tzset()
    try:
        assert provider.identify(answer(vendor.authorize(APP_ID, "ada"))).display_name == "Ada"
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_clock_that_is_wrong_is_reported_to_the_operator(
    vendor: Platform, provider: AlipayProvider
) -> None:
    code = vendor.authorize(APP_ID, "lin")
    vendor.clock.advance(3600)
    with pytest.raises(Misconfigured, match=r"isv\.invalid-timestamp"):
        provider.identify(answer(code))


class TestCodes:
    def test_a_code_is_good_once(self, vendor: Platform, provider: AlipayProvider) -> None:
        code = vendor.authorize(APP_ID, "lin")
        provider.identify(answer(code))
        with pytest.raises(CodeInvalid):
            provider.identify(answer(code))

    @pytest.mark.parametrize("code", ["unknown", "a&method=b", "a b", "中文", "x" * 129, "a\nb"])
    def test_another_code_is_refused(self, provider: AlipayProvider, code: str) -> None:
        with pytest.raises(CodeInvalid):
            provider.identify(answer(code))

    def test_a_redirect_of_another_app_is_refused(
        self, vendor: Platform, provider: AlipayProvider
    ) -> None:
        code = vendor.authorize(APP_ID, "lin")
        with pytest.raises(AnswerInvalid):
            provider.identify(answer(code, app_id="2021000000000002"))
        assert vendor.requests[GATEWAY] == 0


REFUSALS: list[tuple[Kind, type[ProviderError]]] = [
    (SERVICE_UNAVAILABLE, ProviderUnavailable),
    (CALL_LIMITED, ProviderUnavailable),
    (INVALID_SIGNATURE, Misconfigured),
    (INVALID_TIMESTAMP, Misconfigured),
    (INVALID_APP_ID, Misconfigured),
    (NO_PERMISSION, Misconfigured),
]


@pytest.mark.parametrize(("kind", "error"), REFUSALS, ids=lambda value: getattr(value, "sub_code", ""))
@pytest.mark.parametrize("name", ["error_response", TOKEN])
def test_refusals_of_the_gateway(
    vendor: Platform, provider: AlipayProvider, kind: Kind, error: type[ProviderError], name: str
) -> None:
    plan(vendor, signed(vendor.keys, name, json.dumps(kind.members)))
    with pytest.raises(error, match=kind.sub_code):
        provider.identify(answer("code"))


def test_a_wrong_private_key_is_refused_by_the_gateway(
    vendor: Platform, app: AlipayApp, options: AlipayOptions, alipay_keys: KeyPair
) -> None:
    provider = AlipayProvider(replace(app, private_key=alipay_keys.private_text()), options)
    with pytest.raises(Misconfigured, match=r"isv\.invalid-signature"):
        provider.identify(answer(vendor.authorize(APP_ID, "lin")))


def test_the_apps_key_in_place_of_alipays_is_named(
    vendor: Platform, app: AlipayApp, options: AlipayOptions, app_keys: KeyPair
) -> None:
    provider = AlipayProvider(replace(app, alipay_public_key=app_keys.public_text()), options)
    with pytest.raises(Misconfigured, match="alipay_public_key"):
        provider.identify(answer(vendor.authorize(APP_ID, "lin")))


def test_the_nickname_of_another_person_is_refused(vendor: Platform, provider: AlipayProvider) -> None:
    plan(vendor, signed(vendor.keys, TOKEN, '{"access_token":"t","open_id":"one"}'))
    info = '{"code":"10000","msg":"Success","nick_name":"x","open_id":"two"}'
    plan(vendor, signed(vendor.keys, INFO, info))
    with pytest.raises(AnswerInvalid):
        provider.identify(answer("code"))


def signed(keys: KeyPair, name: str, content: str) -> str:
    return f'{{"{name}":{content},"sign":"{keys.sign(content.encode())}"}}'


def plan(vendor: Platform, body: str | bytes) -> None:
    vendor.failures.plan_answer(GATEWAY, body.encode() if isinstance(body, str) else body)


GOOD = '{"access_token":"t","open_id":"good"}'
STRANGE: dict[str, str] = {
    "braces in texts": '{"access_token":"t","open_id":"good","x":"}}{{\\"sign\\":\\"a\\""}',
    "escaped quotes": '{"access_token":"t\\"","open_id":"good"}',
    "backslash at the end": '{"access_token":"t","open_id":"good","x":"\\\\"}',
    "white space within": '{ "access_token" : "t" ,\n\t"open_id" : "good" }',
    "escapes of letters": '{"access_token":"t","open_id":"\\u0067ood"}',
    "escaped slashes": '{"access_token":"t","open_id":"good","avatar":"https:\\/\\/a\\/b"}',
    "letters of four bytes": '{"access_token":"t","open_id":"good","x":"🌅"}',
    "nested objects": '{"access_token":"t","open_id":"good","x":{"y":[{"z":"}"}]}}',
}


@pytest.mark.parametrize("content", [*STRANGE.values()], ids=STRANGE)
def test_the_exact_text_is_verified(
    vendor: Platform, app: AlipayApp, options: AlipayOptions, content: str
) -> None:
    provider = AlipayProvider(replace(app, scope=SILENT), options)
    plan(vendor, signed(vendor.keys, TOKEN, content))
    assert provider.identify(answer("code")).credential.value == f"{APP_ID}:o:good"


def test_white_space_around_the_members_is_allowed(
    vendor: Platform, app: AlipayApp, options: AlipayOptions
) -> None:
    provider = AlipayProvider(replace(app, scope=SILENT), options)
    sign = vendor.keys.sign(GOOD.encode())
    plan(vendor, f' {{\r\n"sign" : "{sign}" ,\t"{TOKEN}" : {GOOD} }}\n')
    assert provider.identify(answer("code")).credential.value == f"{APP_ID}:o:good"


Forge = Callable[[KeyPair], str | bytes]
FORGERIES: dict[str, Forge] = {
    "no sign": lambda _: f'{{"{TOKEN}":{EVIL}}}',
    "empty sign": lambda _: f'{{"{TOKEN}":{EVIL},"sign":""}}',
    "sign is a number": lambda _: f'{{"{TOKEN}":{EVIL},"sign":1}}',
    "sign is null": lambda _: f'{{"{TOKEN}":{EVIL},"sign":null}}',
    "sign is no base64": lambda _: f'{{"{TOKEN}":{EVIL},"sign":"%%%"}}',
    "sign of zeros": lambda _: f'{{"{TOKEN}":{EVIL},"sign":"{b64encode(bytes(256)).decode()}"}}',
    "sign of another content": lambda keys: signed(keys, TOKEN, GOOD).replace("good", "evil"),
    "sign of the same members in another order": lambda keys: signed(keys, TOKEN, GOOD).replace(
        GOOD, '{"open_id":"good","access_token":"t"}'
    ),
    "sign of the same members with white space": lambda keys: signed(keys, TOKEN, GOOD).replace(
        GOOD, '{"access_token": "t", "open_id": "good"}'
    ),
    "sign of the same members with an escape": lambda keys: signed(keys, TOKEN, GOOD).replace(
        GOOD, '{"access_token":"t","open_id":"\\u0067ood"}'
    ),
    "sign by another key": lambda _: signed(KeyPair(), TOKEN, EVIL),
    "response twice, forged last": lambda keys: (
        f'{{{signed(keys, TOKEN, GOOD)[1:-1]},"{TOKEN}":{EVIL}}}'
    ),
    "response twice, forged first": lambda keys: f'{{"{TOKEN}":{EVIL},{signed(keys, TOKEN, GOOD)[1:]}',
    "response twice by an escape": lambda keys: (
        f'{{"\\u0061{TOKEN[1:]}":{EVIL},{signed(keys, TOKEN, GOOD)[1:]}'
    ),
    "sign twice": lambda keys: f'{{"sign":"x",{signed(keys, TOKEN, EVIL)[1:]}',
    "member twice": lambda keys: signed(
        keys, TOKEN, '{"access_token":"t","open_id":"good","open_id":"evil"}'
    ),
    "member twice by an escape": lambda keys: signed(
        keys, TOKEN, '{"access_token":"t","open_id":"good","\\u006fpen_id":"evil"}'
    ),
    "number that is none": lambda keys: signed(keys, TOKEN, f'{GOOD[:-1]},"expires_in":NaN}}'),
    "signed response within a text": lambda keys: (
        f'{{"x":{json.dumps(signed(keys, TOKEN, GOOD))},"{TOKEN}":{EVIL},"sign":"x"}}'
    ),
    "response of another method": lambda keys: signed(keys, INFO, GOOD),
    "response within an object": lambda keys: f'{{"x":{signed(keys, TOKEN, GOOD)}}}',
    "response is a list": lambda keys: signed(keys, TOKEN, "[]"),
    "response is a text": lambda keys: signed(keys, TOKEN, '"good"'),
    "two objects": lambda keys: signed(keys, TOKEN, GOOD) + signed(keys, TOKEN, GOOD),
    "text after the object": lambda keys: signed(keys, TOKEN, GOOD) + "x",
    "mark of the byte order": lambda keys: b"\xef\xbb\xbf" + signed(keys, TOKEN, GOOD).encode(),
    "not UTF-8": lambda keys: signed(keys, TOKEN, GOOD).encode("utf-16"),
    "no JSON": lambda _: "<html>",
    "empty": lambda _: "",
    "empty object": lambda _: "{}",
    "list": lambda keys: f"[{signed(keys, TOKEN, GOOD)}]",
    "deeply nested": lambda _: '{"x":' * 20_000,
    "no id": lambda keys: signed(keys, TOKEN, '{"access_token":"t"}'),
    "id with a colon": lambda keys: signed(keys, TOKEN, '{"access_token":"t","open_id":"a:b"}'),
    "id of a merchant": lambda keys: signed(keys, TOKEN, '{"access_token":"t","user_id":"2188"}'),
    "id is a number": lambda keys: signed(keys, TOKEN, '{"access_token":"t","open_id":1}'),
    "error and response": lambda keys: f'{{"error_response":{{}},{signed(keys, TOKEN, GOOD)[1:]}',
}


@pytest.mark.parametrize("forge", [*FORGERIES.values()], ids=FORGERIES)
def test_no_forged_answer_identifies_a_person(
    vendor: Platform, app: AlipayApp, options: AlipayOptions, forge: Forge
) -> None:
    provider = AlipayProvider(replace(app, scope=SILENT), options)
    plan(vendor, forge(vendor.keys))
    with pytest.raises(ProviderError) as refusal:
        provider.identify(answer("code"))
    assert "evil" not in str(refusal.value)


def test_texts_are_cut_by_their_position_in_the_answer() -> None:
    parts = members(b'{"a": {"b" :1} ,"c":"d"}')
    assert {name: part.content for name, part in parts.items()} == {"a": b'{"b" :1}', "c": b'"d"'}
