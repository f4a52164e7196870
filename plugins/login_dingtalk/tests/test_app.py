"""Identities of people, and everything that is none."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from strongroom.plugin_api.login import Credential
from strongroom_login_dingtalk.app import IN_APP, App
from strongroom_login_oauth.errors import (
    CodeInvalid,
    Misconfigured,
    NotMember,
    ProviderError,
    ProviderUnavailable,
)
from strongroom_login_oauth.provider import Answer, Identity, Start
from strongroom_simulators.dingtalk import (
    MEMBER_RIGHT,
    MOBILE_RIGHT,
    PROFILE_RIGHT,
    Platform,
    PlatformApp,
    sample_app,
)
from strongroom_simulators.dingtalk.samples import COMPANY, OTHER_COMPANY

CALLBACK = "http://127.0.0.1/callback"
EXCHANGE = "/v1.0/oauth2/userAccessToken"
PROFILE = "/v1.0/contact/users/me"
APP_TOKEN = "/v1.0/oauth2/accessToken"
MEMBERS = "/topapi/user/getbyunionid"

MakeApp = Callable[..., App]


def answer(code: str, **parameters: str) -> Answer:
    return Answer(code, CALLBACK, "a-nonce", "a-verifier", parameters)


def start() -> Start:
    return Start("login.abc", CALLBACK, "a-nonce", "a-challenge")


def identify(app: App, vendor: Platform, person: str, *, corp_id: str | None = None) -> Identity:
    return app.identify(answer(vendor.confirm(sample_app().client_id, person, corp_id=corp_id)))


def open_app(app: App, vendor: Platform, person: str) -> Identity:
    return app.identify(answer(vendor.open_app(sample_app().client_id, person), inApp="true"))


class TestPage:
    def test_the_page_of_dingtalk_accepts_its_url(self, app: App) -> None:
        url = app.authorize_url(start())
        assert requests.get(url, timeout=30).status_code == 200
        query = parse_qs(urlsplit(url).query)
        assert (query["state"], query["redirect_uri"]) == (["login.abc"], [CALLBACK])
        assert query["scope"] == ["openid"]

    def test_a_company_with_accounts_of_its_own_is_named(self, make_app: MakeApp) -> None:
        url = make_app(exclusive_corp_id=COMPANY).authorize_url(start())
        page = requests.get(url, timeout=30)
        assert page.status_code == 200
        assert "赵敏" in page.text
        assert "林小雨" not in page.text


class TestIdentity:
    def test_a_member_has_the_union_id_as_credential(
        self, app: App, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        identity = identify(app, vendor, "lin")
        union_id = vendor_app.unionid(vendor.people["lin"])
        assert identity.credential == Credential("dingtalk", f"main:{union_id}")
        assert identity.display_name == "林小雨"

    def test_both_ways_have_the_same_credential(self, app: App, vendor: Platform) -> None:
        assert open_app(app, vendor, "lin").credential == identify(app, vendor, "lin").credential
        assert open_app(app, vendor, "lin").contacts == ()

    @pytest.mark.parametrize(
        ("mobile", "state_code", "number"),
        [
            ("13800000001", "86", "+8613800000001"),
            ("7400123456", "44", "+447400123456"),
            ("", "86", None),
            ("138-0000", "86", None),
            ("13800000001", "", None),
            ("13800000001", "0086", None),
            ("1" * 20, "86", None),
        ],
    )
    def test_a_verified_number_is_in_e164(
        self, mobile: str, state_code: str, number: str | None, make_app: MakeApp, vendor: Platform
    ) -> None:
        app = make_app()
        vendor.add_person(replace(vendor.people["lin"], mobile=mobile, state_code=state_code))
        contacts = identify(app, vendor, "lin").contacts
        assert [contact.credential.value for contact in contacts] == ([number] if number else [])

    @pytest.mark.parametrize("is_trusted", [False, True])
    def test_a_number_counts_only_with_the_option(
        self, make_app: MakeApp, vendor: Platform, is_trusted: bool
    ) -> None:
        [contact] = identify(make_app(trust_mobile=is_trusted), vendor, "lin").contacts
        # Without the option, nothing asks who owns the account.
        assert (contact.is_proven, contact.is_trusted) == (is_trusted, is_trusted)

    def test_without_the_right_there_is_no_number(
        self, app: App, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        vendor_app.rights.remove(MOBILE_RIGHT)
        assert identify(app, vendor, "lin").contacts == ()

    @pytest.mark.parametrize(
        ("person", "options"),
        [("zhao", {"exclusive_corp_id": COMPANY}), ("zhao", {}), ("ada", {"members_only": False})],
    )
    def test_a_number_that_a_company_may_have_entered_is_not_proven(
        self, make_app: MakeApp, vendor: Platform, person: str, options: dict[str, Any]
    ) -> None:
        vendor.add_person(replace(vendor.people[person], mobile="13800000009", state_code="86"))
        app = make_app(trust_mobile=True, **options)
        [contact] = identify(app, vendor, person, corp_id=COMPANY).contacts
        assert (contact.is_proven, contact.is_trusted) == (False, True)

    def test_the_organization_is_part_of_the_credential(
        self, make_app: MakeApp, vendor: Platform
    ) -> None:
        app = make_app(organization="second")
        assert identify(app, vendor, "lin").credential.value.startswith("second:")

    def test_outsiders_enter_only_if_the_configuration_says_so(
        self, make_app: MakeApp, vendor: Platform
    ) -> None:
        app = make_app(members_only=False)
        assert identify(app, vendor, "ada").display_name == "Ada"
        assert vendor.requests[MEMBERS] == 0


def plan(path: str, code: str | int) -> Callable[[Platform], None]:
    return lambda vendor: vendor.failures.plan(path, code)


def plan_raw(
    path: str, body: bytes | Mapping[str, Any], status: int = 200
) -> Callable[[Platform], None]:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda vendor: vendor.failures.plan_answer(path, raw, status=status)


def revoke(right: str) -> Callable[[Platform], None]:
    return lambda vendor: next(iter(vendor.apps.values())).rights.remove(right)


def leave(vendor: Platform) -> None:
    vendor.leave(COMPANY, "lin")


def change_secret(vendor: Platform) -> None:
    next(iter(vendor.apps.values())).client_secret = "another"


FAULTS = [
    (leave, NotMember, "60121"),
    (plan(EXCHANGE, "invalidParameter.authCode.notFound"), CodeInvalid, "authCode"),
    (plan_raw(EXCHANGE, {"code": "InvalidParameter.AuthCode.NotFound"}, 400), CodeInvalid, "AuthCode"),
    (plan(EXCHANGE, "invalidClientIdOrSecret"), Misconfigured, "invalidClientIdOrSecret"),
    (change_secret, Misconfigured, "invalidClientIdOrSecret"),
    (plan(APP_TOKEN, "invalidClientIdOrSecret"), Misconfigured, "accessToken"),
    (revoke(PROFILE_RIGHT), Misconfigured, "AccessTokenPermissionDenied"),
    (revoke(MEMBER_RIGHT), Misconfigured, "60011"),
    (plan(EXCHANGE, "Forbidden.AccessDenied.IpNotInWhiteList"), Misconfigured, "IpNotInWhiteList"),
    (plan(MEMBERS, 60020), Misconfigured, "60020"),
    (plan_raw(MEMBERS, {"errcode": 50002, "errmsg": ""}), Misconfigured, "50002"),
    (plan(EXCHANGE, "Forbidden.AccessDenied.QpsLimitForAppkeyAndApi"), ProviderUnavailable, "QpsLimit"),
    (plan_raw(PROFILE, {"code": "Throttling.User"}, 403), ProviderUnavailable, "Throttling"),
    (plan(MEMBERS, 90018), ProviderUnavailable, "90018"),
    (plan_raw(MEMBERS, {"errcode": 88, "sub_code": "90018"}), ProviderUnavailable, "90018"),
    (plan(MEMBERS, -1), ProviderUnavailable, "-1"),
    (plan_raw(MEMBERS, {"errcode": 88, "errmsg": "?"}), ProviderUnavailable, "88"),
    (plan_raw(MEMBERS, {"errcode": 987654}), ProviderUnavailable, "987654"),
    (plan_raw(EXCHANGE, {"code": 500, "message": "number"}, 500), ProviderUnavailable, "'500'"),
    (plan_raw(EXCHANGE, {"code": "unheard.of", "message": "a\nb"}, 418), ProviderUnavailable, "a b"),
    (plan_raw(EXCHANGE, {"code": "unheard.of"}), ProviderUnavailable, "unheard.of"),
    (plan_raw(EXCHANGE, {}), ProviderUnavailable, "'accessToken'"),
    (plan_raw(EXCHANGE, {"accessToken": 7}), ProviderUnavailable, "'accessToken'"),
    (plan_raw(EXCHANGE, b"<html>"), ProviderUnavailable, "no JSON"),
    (plan_raw(EXCHANGE, b"\xff"), ProviderUnavailable, "no JSON"),
    (plan_raw(EXCHANGE, b" " * 70_000), ProviderUnavailable, "did not answer"),
    (plan_raw(EXCHANGE, b"{}", 302), ProviderUnavailable, "302"),
    (plan_raw(PROFILE, {"nick": "no id"}), ProviderUnavailable, "'unionId'"),
    (plan_raw(PROFILE, {"unionId": "a b"}), ProviderUnavailable, "'unionId'"),
    (plan_raw(PROFILE, {"unionId": "u" * 200}), ProviderUnavailable, "'unionId'"),
    (plan_raw(PROFILE, {"unionId": ["u"]}), ProviderUnavailable, "'unionId'"),
    (plan(PROFILE, "InvalidAuthentication"), ProviderUnavailable, "InvalidAuthentication"),
    (plan_raw(MEMBERS, {}), ProviderUnavailable, "'errcode'"),
    (plan_raw(MEMBERS, {"errcode": 0}), ProviderUnavailable, "'result'"),
    (plan_raw(MEMBERS, {"errcode": 0, "result": {}}), NotMember, "no member"),
    (plan_raw(MEMBERS, {"errcode": 0, "result": {"userid": ""}}), NotMember, "no member"),
    (plan_raw(MEMBERS, {"errcode": 0, "result": {"userid": "u"}}, 500), ProviderUnavailable, "500"),
    (plan_raw(MEMBERS, b"oops", 502), ProviderUnavailable, "502"),
]


class TestRefusals:
    @pytest.mark.parametrize(("prepare", "kind", "text"), FAULTS)
    def test_an_odd_answer_of_dingtalk_is_no_identity(
        self,
        prepare: Callable[[Platform], None],
        kind: type[ProviderError],
        text: str,
        app: App,
        vendor: Platform,
    ) -> None:
        code = vendor.confirm(sample_app().client_id, "lin")
        prepare(vendor)
        with pytest.raises(kind, match=text) as refusal:
            app.identify(answer(code))
        assert code not in str(refusal.value)

    @pytest.mark.parametrize("person", ["ada", "ren"])
    def test_members_of_other_companies_and_external_contacts_are_refused(
        self, person: str, app: App, vendor: Platform
    ) -> None:
        with pytest.raises(NotMember):
            identify(app, vendor, person)

    @pytest.mark.parametrize("failure", [-1, 88, 40014, 60011, 90018])
    def test_an_outsider_is_refused_also_while_the_check_fails(
        self, failure: int, app: App, vendor: Platform
    ) -> None:
        code = vendor.confirm(sample_app().client_id, "ada")
        vendor.failures.plan(MEMBERS, failure, times=2)
        with pytest.raises(ProviderError):
            app.identify(answer(code))

    def test_a_code_is_for_one_use_five_minutes_and_its_app(self, app: App, vendor: Platform) -> None:
        vendor.add_app(PlatformApp("dingother", "other", OTHER_COMPANY))
        used, old = (vendor.confirm(sample_app().client_id, "lin") for _ in range(2))
        app.identify(answer(used))
        vendor.clock.advance(300)
        for code in (used, old, vendor.confirm("dingother", "lin"), "unknown"):
            with pytest.raises(CodeInvalid):
                app.identify(answer(code))

    def test_the_codes_of_the_two_ways_do_not_mix(self, app: App, vendor: Platform) -> None:
        with pytest.raises(CodeInvalid):
            app.identify(answer(vendor.confirm(sample_app().client_id, "lin"), inApp="true"))
        with pytest.raises(CodeInvalid):
            app.identify(answer(vendor.open_app(sample_app().client_id, "lin")))

    def test_a_leaver_does_not_enter_by_an_older_code_of_the_app(
        self, app: App, vendor: Platform
    ) -> None:
        code = vendor.open_app(sample_app().client_id, "lin")
        vendor.leave(COMPANY, "lin")
        with pytest.raises(NotMember):
            app.identify(answer(code, **{IN_APP: "true"}))

    @pytest.mark.parametrize("corp_id", [None, OTHER_COMPANY, ""])
    def test_a_changed_url_does_not_bring_the_company_of_another_account(
        self, corp_id: str | None, make_app: MakeApp, vendor: Platform
    ) -> None:
        app = make_app(exclusive_corp_id=COMPANY, members_only=False)
        with pytest.raises(NotMember, match="another company"):
            identify(app, vendor, "ada", corp_id=corp_id)

    @pytest.mark.parametrize("is_in_app", [False, True])
    def test_only_accounts_that_the_company_owns_log_in(
        self, make_app: MakeApp, vendor: Platform, is_in_app: bool
    ) -> None:
        app = make_app(exclusive_corp_id=COMPANY)

        def log_in(person: str) -> Identity:
            if is_in_app:
                return open_app(app, vendor, person)
            return identify(app, vendor, person, corp_id=COMPANY)

        assert log_in("zhao").display_name == "赵敏"
        with pytest.raises(NotMember, match="not one that the company owns"):
            log_in("lin")
        vendor.add_person(replace(vendor.people["zhao"], exclusive_corp=OTHER_COMPANY))
        with pytest.raises(NotMember, match="not one that the company owns"):
            log_in("zhao")


class TestMembers:
    def test_a_member_is_one_until_leaving(self, app: App, vendor: Platform) -> None:
        credential = identify(app, vendor, "lin").credential
        assert app.is_member(credential) is True
        vendor.leave(COMPANY, "lin")
        assert app.is_member(credential) is False
        vendor.join(COMPANY, "lin")
        assert app.is_member(credential) is True

    def test_a_member_who_becomes_an_external_contact_has_left(self, app: App, vendor: Platform) -> None:
        credential = identify(app, vendor, "lin").credential
        company = vendor.companies[COMPANY]
        company.contacts["lin"] = company.members.pop("lin")
        assert app.is_member(credential) is False

    @pytest.mark.parametrize("failure", [-1, 60011, 60020, 50002, 90018, 88])
    def test_a_failed_check_ends_nothing(self, failure: int, app: App, vendor: Platform) -> None:
        credential = identify(app, vendor, "lin").credential
        vendor.failures.plan(MEMBERS, failure)
        with pytest.raises((ProviderUnavailable, Misconfigured)):
            app.is_member(credential)

    def test_people_of_another_organization_are_not_its_concern(
        self, app: App, make_app: MakeApp, vendor: Platform
    ) -> None:
        credential = identify(app, vendor, "lin").credential
        vendor.leave(COMPANY, "lin")
        assert make_app(organization="second").is_member(credential) is None
        assert make_app(members_only=False).is_member(credential) is None

    def test_a_withdrawn_token_is_replaced_once(
        self, app: App, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        credential = identify(app, vendor, "lin").credential
        vendor.app_tokens.withdraw(vendor_app)
        assert app.is_member(credential) is True
        assert vendor.requests[APP_TOKEN] == 2
        vendor.failures.plan(MEMBERS, 40014, times=2)
        with pytest.raises(ProviderUnavailable):
            app.is_member(credential)

    def test_the_token_is_fetched_once_for_many_people(self, app: App, vendor: Platform) -> None:
        credentials = [identify(app, vendor, person).credential for person in ("lin", "wei", "zhao")]
        assert [app.is_member(credential) for credential in credentials] == [True] * 3
        assert vendor.requests[APP_TOKEN] == 1
