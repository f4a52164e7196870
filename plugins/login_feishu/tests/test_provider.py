"""Logins at the simulated platform."""

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from authlib.oauth2.rfc7636 import create_s256_code_challenge
from tests.support.feishu import REDIRECT, Values, decide

from strongroom.plugin_api.login import Credential
from strongroom_login_feishu.options import FeishuApp
from strongroom_login_feishu.provider import FeishuProvider
from strongroom_login_oauth.errors import (
    AnswerInvalid,
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    Misconfigured,
    NotMember,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
)
from strongroom_login_oauth.provider import Answer, Start
from strongroom_simulators.feishu import OTHER_TENANT, TENANT, Platform, Status
from strongroom_simulators.feishu.codes import Challenge
from strongroom_simulators.feishu.refusals import ANSWERS, Refusal, TokenRefusal
from strongroom_simulators.feishu.registry import CONTACT, EMAIL, EMPLOYMENT, PHONE

APP_ID = "cli_00000000000000a1"
VERIFIER = "v" * 64
V3 = "/oauth/v3/token"
USER_INFO = "/open-apis/authen/v1/user_info"
USERS = "/open-apis/contact/v3/users"

Make = Callable[[FeishuApp], FeishuProvider]

in_lark = pytest.mark.parametrize("region", ["global"])


def start(state: str = "a-state") -> Start:
    return Start(state, REDIRECT, "nonce", create_s256_code_challenge(VERIFIER))


def answer(code: str, *, verifier: str = VERIFIER, redirect: str = REDIRECT) -> Answer:
    return Answer(code, redirect, "nonce", verifier)


def code_of(platform: Platform, person: str = "lin", *, challenge: bool = True) -> str:
    known = Challenge(create_s256_code_challenge(VERIFIER), "S256") if challenge else None
    return platform.authorize(APP_ID, person, redirect_uri=REDIRECT, challenge=known)


def union_id(platform: Platform, person: str) -> str:
    return platform.apps[APP_ID].union_id(platform.people[person])


def credential(platform: Platform, person: str) -> Credential:
    tenant = platform.people[person].tenant
    return Credential("feishu", f"{tenant}:{union_id(platform, person)}")


class TestPage:
    def test_it_gets_the_app_the_state_and_a_challenge(self, provider: FeishuProvider) -> None:
        assert parse_qs(urlsplit(provider.authorize_url(start())).query) == {
            "client_id": [APP_ID],
            "response_type": ["code"],
            "redirect_uri": [REDIRECT],
            "state": ["a-state"],
            "code_challenge": [create_s256_code_challenge(VERIFIER)],
            "code_challenge_method": ["S256"],
        }

    def test_it_gets_the_configured_permissions(self, make_provider: Make, app: FeishuApp) -> None:
        url = make_provider(replace(app, scopes=(EMAIL, PHONE))).authorize_url(start())
        assert parse_qs(urlsplit(url).query)["scope"] == [f"{EMAIL} {PHONE}"]

    def test_a_person_who_confirms_comes_back_and_is_identified(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        query = decide(provider.authorize_url(start()), "lin")
        assert query["state"] == "a-state"
        identity = provider.identify(answer(query["code"]))
        assert identity.credential == credential(vendor, "lin")
        assert identity.display_name == "林小雨"

    @in_lark
    def test_lark_is_the_same_with_version_2(self, vendor: Platform, provider: FeishuProvider) -> None:
        query = decide(provider.authorize_url(start()), "ada")
        assert provider.identify(answer(query["code"])).credential == credential(vendor, "ada")
        assert (provider.labels["zh"], vendor.requests[V3]) == ("Lark", 0)


class TestIdentity:
    def test_addresses_and_numbers_of_an_administrator_never_link(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        vendor.apps[APP_ID].scopes |= {EMAIL, PHONE}
        identity = provider.identify(answer(code_of(vendor)))
        assert (identity.also, identity.contacts) == ((), ())

    def test_an_outsider_is_refused_and_the_company_is_in_the_log(
        self, vendor: Platform, provider: FeishuProvider, caplog: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(NotMember):
            provider.identify(answer(code_of(vendor, "eve")))
        assert f"the tenant {OTHER_TENANT} is not among allowed_tenants" in caplog.text

    def test_without_the_limit_to_members_any_company_is_accepted(
        self, vendor: Platform, make_provider: Make, app: FeishuApp
    ) -> None:
        provider = make_provider(replace(app, members_only=False, allowed_tenants=()))
        identity = provider.identify(answer(code_of(vendor, "eve")))
        assert identity.credential.value.startswith(f"{OTHER_TENANT}:on_")

    @pytest.mark.parametrize(
        "data",
        [
            {},
            {"tenant_key": TENANT},
            {"union_id": "on_1"},
            {"tenant_key": TENANT, "union_id": ""},
            {"tenant_key": TENANT, "union_id": 1},
            {"tenant_key": [TENANT], "union_id": "on_1"},
            {"tenant_key": f"{TENANT}:x", "union_id": "on_1"},
            {"tenant_key": TENANT, "union_id": "on_1\n"},
            {"tenant_key": TENANT, "union_id": "o" * 129},
        ],
    )
    def test_a_person_without_both_ids_is_refused(
        self, vendor: Platform, provider: FeishuProvider, data: dict[str, object]
    ) -> None:
        body = json.dumps({"code": 0, "data": data}).encode()
        vendor.failures.plan_answer(USER_INFO, body)
        with pytest.raises(ProviderUnavailable):
            provider.identify(answer(code_of(vendor)))

    def test_a_company_that_is_a_number_is_no_company(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        body = json.dumps({"code": 0, "data": {"tenant_key": None, "union_id": "on_1"}}).encode()
        vendor.failures.plan_answer(USER_INFO, body)
        with pytest.raises(ProviderUnavailable):
            provider.identify(answer(code_of(vendor)))


class TestCodes:
    def test_a_code_is_good_once(self, vendor: Platform, provider: FeishuProvider) -> None:
        code = code_of(vendor)
        provider.identify(answer(code))
        with pytest.raises(CodeUsed):
            provider.identify(answer(code))

    def test_a_code_lasts_five_minutes(self, vendor: Platform, provider: FeishuProvider) -> None:
        code = code_of(vendor)
        vendor.clock.advance(300)
        with pytest.raises(CodeExpired):
            provider.identify(answer(code))

    def test_an_unknown_code_is_refused(self, provider: FeishuProvider) -> None:
        with pytest.raises(CodeInvalid):
            provider.identify(answer("unknown"))

    def test_a_code_of_another_verifier_is_refused(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        with pytest.raises(AnswerInvalid):
            provider.identify(answer(code_of(vendor), verifier="w" * 64))

    def test_a_code_that_was_issued_without_a_challenge_is_refused(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        with pytest.raises(AnswerInvalid):
            provider.identify(answer(code_of(vendor, challenge=False)))

    def test_a_code_of_another_redirect_is_refused(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        with pytest.raises(AnswerInvalid):
            provider.identify(answer(code_of(vendor), redirect=f"{REDIRECT}/other"))

    def test_a_person_who_resigned_meanwhile_is_refused(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        code = code_of(vendor)
        vendor.leave("lin")
        with pytest.raises(NotMember):
            provider.identify(answer(code))


REFUSALS: dict[int, type[ProviderError]] = {
    20001: CodeInvalid,
    20002: Misconfigured,
    20003: CodeInvalid,
    20004: CodeExpired,
    20008: NotMember,
    20009: Misconfigured,
    20010: NotMember,
    20024: CodeInvalid,
    20036: ProviderUnavailable,
    20048: Misconfigured,
    20049: AnswerInvalid,
    20050: ProviderUnavailable,
    20063: CodeInvalid,
    20065: CodeUsed,
    20066: NotMember,
    20069: Misconfigured,
    20070: ProviderUnavailable,
    20071: AnswerInvalid,
    20072: ProviderUnavailable,
    99991400: ProviderUnavailable,
}


@pytest.mark.parametrize(("code", "error"), REFUSALS.items(), ids=str)
def test_refusals_of_the_token_endpoint(
    vendor: Platform, provider: FeishuProvider, code: int, error: type[ProviderError]
) -> None:
    refusal = TokenRefusal(code)
    body = json.dumps(refusal.members).encode()
    vendor.failures.plan_answer(V3, body, status=refusal.status)
    with pytest.raises(error, match=str(code)) as raised:
        provider.identify(answer("a-code"))
    assert type(raised.value) is error


def test_the_table_has_each_code_of_the_simulator() -> None:
    assert {code for code in ANSWERS if 20_000 <= code < 21_000} <= set(REFUSALS)


def test_the_log_id_of_the_platform_is_in_the_message(
    vendor: Platform, provider: FeishuProvider
) -> None:
    body = {**Refusal(99991400).members, "error": {"log_id": "20261124ABC"}}
    vendor.failures.plan_answer(USER_INFO, json.dumps(body).encode(), status=400)
    with pytest.raises(ProviderUnavailable, match="log id 20261124ABC"):
        provider.identify(answer(code_of(vendor)))


def test_neither_code_nor_secret_is_in_messages_or_logs(
    vendor: Platform, provider: FeishuProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    body = {"code": 20003, "error": "invalid_grant", "error_description": "feishu-secret a-code-1"}
    vendor.failures.plan_answer(V3, json.dumps(body).encode(), status=400)
    with pytest.raises(CodeInvalid) as raised:
        provider.identify(answer("a-code-1"))
    provider.identify(answer(code_of(vendor)))
    for text in (str(raised.value), caplog.text):
        assert "a-code-1" not in text
        assert "feishu-secret" not in text
        assert "u-" not in text


class TestMembers:
    @pytest.mark.parametrize(
        ("status", "is_member"),
        [
            (Status.ACTIVE, True),
            (Status.FROZEN, False),
            (Status.EXITED, False),
            (Status.RESIGNED, False),
        ],
    )
    @pytest.mark.parametrize("region", ["cn", "global"])
    def test_the_contacts_tell_who_has_left(
        self, vendor: Platform, provider: FeishuProvider, status: Status, is_member: bool
    ) -> None:
        vendor.leave("lin", status)
        assert provider.is_member(credential(vendor, "lin")) is is_member

    def test_a_person_who_is_unknown_to_the_company_has_left(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        assert provider.is_member(Credential("feishu", f"{TENANT}:on_other")) is False

    def test_people_of_other_companies_are_not_looked_up(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        assert provider.is_member(credential(vendor, "eve")) is None
        assert vendor.requests.total() == 0

    def test_the_lookup_can_be_switched_off(
        self, vendor: Platform, make_provider: Make, app: FeishuApp
    ) -> None:
        provider = make_provider(replace(app, check_leavers=False))
        assert provider.is_member(credential(vendor, "lin")) is None
        assert vendor.requests.total() == 0

    @pytest.mark.parametrize("permission", [CONTACT, EMPLOYMENT])
    def test_a_missing_permission_ends_no_login(
        self, vendor: Platform, provider: FeishuProvider, permission: str
    ) -> None:
        vendor.apps[APP_ID].scopes.remove(permission)
        with pytest.raises(Misconfigured):
            provider.is_member(credential(vendor, "lin"))

    def test_a_person_outside_of_the_range_of_contacts_ends_no_login(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        vendor.apps[APP_ID].contacts = set()
        with pytest.raises(Misconfigured, match="41050"):
            provider.is_member(credential(vendor, "lin"))

    def test_the_token_of_the_app_is_used_for_all(
        self, vendor: Platform, provider: FeishuProvider
    ) -> None:
        for person in ("lin", "wei", "ada"):
            assert provider.is_member(credential(vendor, person))
        assert vendor.requests[V3] == 1

    def test_a_refused_token_is_replaced_once(self, vendor: Platform, provider: FeishuProvider) -> None:
        provider.is_member(credential(vendor, "lin"))
        vendor.app_tokens.revoke()
        assert provider.is_member(credential(vendor, "lin"))
        assert vendor.requests[V3] == 2

    def test_a_token_is_renewed_before_its_end(
        self, vendor: Platform, provider: FeishuProvider, server: Values
    ) -> None:
        provider.is_member(credential(vendor, "lin"))
        server.clock.advance(7_100_000)
        vendor.clock.advance(7_100)
        assert provider.is_member(credential(vendor, "lin"))
        assert vendor.requests[V3] == 2

    def test_too_many_requests_end_no_login(self, vendor: Platform, provider: FeishuProvider) -> None:
        for _ in range(1000):
            vendor.limit.hit((USERS, APP_ID))
        with pytest.raises(ProviderUnavailable) as raised:
            provider.is_member(credential(vendor, "lin"))
        assert not isinstance(raised.value, TokenRefused)

    @pytest.mark.parametrize(
        "body",
        [b"", b"<html>", b"[]", b"{}", b'{"code":0}', b'{"code":0,"data":{"user":{"status":[]}}}'],
    )
    def test_garbage_ends_no_login(
        self, vendor: Platform, provider: FeishuProvider, body: bytes
    ) -> None:
        provider.is_member(credential(vendor, "wei"))
        vendor.failures.plan_answer(f"{USERS}/{union_id(vendor, 'lin')}", body)
        with pytest.raises(ProviderError):
            provider.is_member(credential(vendor, "lin"))

    def test_a_wrong_secret_is_reported_to_the_operator(
        self, vendor: Platform, make_provider: Make, app: FeishuApp
    ) -> None:
        provider = make_provider(replace(app, app_secret="another-secret"))
        with pytest.raises(Misconfigured, match="20002"):
            provider.is_member(credential(vendor, "lin"))
        with pytest.raises(Misconfigured, match="20002"):
            provider.identify(answer(code_of(vendor)))


class TestOptions:
    def test_the_regions_have_their_own_addresses(self, app: FeishuApp) -> None:
        mainland = replace(app, accounts_url=None, open_url=None)
        lark = replace(mainland, region="global")
        assert (mainland.accounts_base, mainland.open_base) == (
            "https://accounts.feishu.cn",
            "https://open.feishu.cn",
        )
        assert (lark.accounts_base, lark.open_base) == (
            "https://accounts.larksuite.com",
            "https://open.larksuite.com",
        )

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"allowed_tenants": ()}, "allowed_tenants: required, unless members_only is false"),
            ({"allowed_tenants": ("a:b",)}, "allowed_tenants: must be like"),
            ({"open_url": "http://open.feishu.cn"}, "open_url: must begin with https://"),
            ({"accounts_url": "http://accounts.feishu.cn"}, "accounts_url: must begin with https://"),
        ],
    )
    def test_wrong_options_are_refused(
        self, app: FeishuApp, changes: dict[str, object], message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            replace(app, **changes)  # type: ignore[arg-type]

    def test_the_secret_is_not_in_the_representation(self, app: FeishuApp) -> None:
        assert app.app_secret not in repr(app)
