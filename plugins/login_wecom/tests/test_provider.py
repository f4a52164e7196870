"""The provider against the simulator: URLs of pages, identities, members, and refusals."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from strongroom.plugin_api.login import Client, Contact, Credential, VerificationCode
from strongroom.testing.clock import ManualClock
from strongroom_login_oauth.app_token import AppToken
from strongroom_login_oauth.client import JsonClient
from strongroom_login_oauth.errors import (
    CodeInvalid,
    Misconfigured,
    NotMember,
    ProviderError,
    ProviderUnavailable,
)
from strongroom_login_oauth.memory import MemoryValues
from strongroom_login_oauth.provider import Answer, Start
from strongroom_login_wecom.api import WeComApi
from strongroom_login_wecom.options import WeComApp, WeComOptions
from strongroom_login_wecom.provider import WeComProvider
from strongroom_simulators.clock import AdjustableClock
from strongroom_simulators.wecom import Platform, PlatformApp, Simulator, Status
from strongroom_simulators.wecom.codes import BASE, PRIVATE
from strongroom_simulators.wecom.interfaces import (
    GET_TOKEN,
    GET_USER,
    GET_USER_DETAIL,
    GET_USER_INFO,
)
from strongroom_simulators.wecom.refusals import MESSAGES

REDIRECT_URI = "https://files.example.org/api/v1/wecom-authorizations/callback/main"
START = Start("browser0abc", REDIRECT_URI, "nonce", "challenge")
IN_APP = "Mozilla/5.0 (iPhone) Mobile wxwork/4.1.0 MicroMessenger/7.0.1"
CORPID = "ww00000000000000c1"


class Contacts:
    """Normalises contacts; the other proofs are of no use here."""

    def identify(self, text: str) -> Credential | None:
        if "@" in text:
            return Credential("email", text.lower())
        return Credential("mobile", text) if text.startswith("+861") else None

    def check_password(self, username: str, password: str) -> Credential | None:
        raise AssertionError

    def consume_code(
        self, code: VerificationCode, recipient: str, purpose: str, *, client: Client | None = None
    ) -> Credential | None:
        raise AssertionError


Make = Callable[..., WeComProvider]


@pytest.fixture
def make(simulator: Simulator, vendor_app: PlatformApp) -> Iterator[Make]:
    """Makes providers of the app, whose options may differ."""
    made: list[WeComProvider] = []

    def provider(**changes: Any) -> WeComProvider:
        own = {name: getattr(vendor_app, name) for name in ("corpid", "agentid", "secret")}
        app = replace(WeComApp(**own), **changes)
        options = WeComOptions(
            apps={"main": app},
            login_url=simulator.url,
            open_url=simulator.url,
            api_url=simulator.url,
        )
        api, clock = WeComApi(JsonClient.of(simulator.url, options), app), ManualClock()
        values = MemoryValues(clock)
        token = AppToken("token", api.fetch_token, values=lambda: values, clock=lambda: clock)
        made.append(WeComProvider(options, app, api, token, Contacts()))
        return made[-1]

    yield provider
    for item in made:
        item.close()


@pytest.fixture
def provider(make: Make) -> WeComProvider:
    return make()


def answer(code: str) -> Answer:
    return Answer(code, REDIRECT_URI, "nonce", "verifier")


class TestPages:
    def test_a_browser_gets_the_page_with_the_qr_code(self, provider: WeComProvider) -> None:
        url = urlsplit(provider.authorize_url(replace(START, language="zh", user_agent="Firefox")))
        assert (url.path, url.fragment) == ("/wwlogin/sso/login", "")
        assert parse_qs(url.query) == {
            "login_type": ["CorpApp"],
            "appid": [CORPID],
            "agentid": ["1000002"],
            "redirect_uri": [REDIRECT_URI],
            "state": ["browser0abc"],
            "lang": ["zh"],
        }

    @pytest.mark.parametrize(("contact_data", "scope"), [(False, BASE), (True, PRIVATE)])
    def test_wecom_gets_the_page_that_needs_no_scan(
        self, make: Make, contact_data: bool, scope: str
    ) -> None:
        start = replace(START, language="en", user_agent=IN_APP)
        url = urlsplit(make(contact_data=contact_data).authorize_url(start))
        assert (url.path, url.fragment) == ("/connect/oauth2/authorize", "wechat_redirect")
        assert parse_qs(url.query) == {
            "appid": [CORPID],
            "redirect_uri": [REDIRECT_URI],
            "response_type": ["code"],
            "scope": [scope],
            "state": ["browser0abc"],
            "agentid": ["1000002"],
        }

    def test_the_redirect_uri_is_encoded_once(self, provider: WeComProvider) -> None:
        url = provider.authorize_url(START)
        assert "redirect_uri=https%3A%2F%2Ffiles.example.org%2Fapi" in url


class TestIdentity:
    def test_a_member_is_known_by_corporation_and_userid_in_lowercase(
        self, provider: WeComProvider, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        identity = provider.identify(answer(vendor.confirm(vendor_app, "lin")))
        assert identity.credential == Credential("wecom", f"{CORPID}:linxiaoyu")
        assert (identity.display_name, identity.contacts) == ("林小雨", ())
        vendor.people["lin"].userid = "LINXIAOYU"
        vendor_app.visible_to = None
        assert provider.identify(answer(vendor.confirm(vendor_app, "lin"))) == identity

    @pytest.mark.parametrize("person", ["ren", "ada", "chen", "qian"])
    def test_other_people_are_not_members(
        self, provider: WeComProvider, vendor: Platform, vendor_app: PlatformApp, person: str
    ) -> None:
        with pytest.raises(NotMember):
            provider.identify(answer(vendor.confirm(vendor_app, person)))

    @pytest.mark.parametrize(
        ("person", "value"), [("ada", "ww00000000000000c2:ada"), ("chen", f"{CORPID}:chen")]
    )
    def test_without_members_only_linked_and_other_members_are_known(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp, person: str, value: str
    ) -> None:
        identity = make(members_only=False).identify(answer(vendor.confirm(vendor_app, person)))
        assert identity.credential == Credential("wecom", value)

    def test_without_members_only_outsiders_are_known_by_an_id_that_no_member_has(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        identity = make(members_only=False).identify(answer(vendor.confirm(vendor_app, "ren")))
        openid = vendor_app.openid(vendor.people["ren"])
        assert identity.credential == Credential("wecom", f"{CORPID}:openid:{openid}")

    def test_a_disabled_member_is_refused_without_members_only_as_well(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        with pytest.raises(NotMember):
            make(members_only=False).identify(answer(vendor.confirm(vendor_app, "qian")))

    @pytest.mark.parametrize("userid", [" ", "a:b", "a" * 65, "k\u212a", 7, ["lin"], "\u6797", "a\x00b"])
    def test_an_undocumented_userid_is_no_identity(
        self, provider: WeComProvider, simulator: Simulator, userid: object
    ) -> None:
        body = json.dumps({"errcode": 0, "errmsg": "ok", "userid": userid}).encode()
        simulator.platform.failures.plan_answer(GET_USER_INFO, body)
        with pytest.raises(ProviderUnavailable):
            provider.identify(answer("a-code"))


class TestContactData:
    def test_is_the_number_and_the_mailbox_that_wecom_has_verified(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        identity = make(contact_data=True).identify(answer(vendor.confirm(vendor_app, "lin", PRIVATE)))
        values = ("mobile", "+8613800000001"), ("email", "lin@corp.example.com")
        assert identity.contacts == tuple(
            Contact(Credential(*value), is_proven=True, is_trusted=True) for value in values
        )

    @pytest.mark.parametrize(("contact_data", "scope"), [(False, PRIVATE), (True, BASE)])
    def test_needs_the_option_and_the_scope(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp, contact_data: bool, scope: str
    ) -> None:
        code = vendor.confirm(vendor_app, "lin", scope)
        assert make(contact_data=contact_data).identify(answer(code)).contacts == ()
        assert vendor.requests[GET_USER_DETAIL] == 0

    def test_what_the_member_or_the_administrator_withholds_is_missing(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        vendor_app.sensitive = frozenset({"email"})
        code = vendor.confirm(vendor_app, "lin", PRIVATE)
        assert make(contact_data=True).identify(answer(code)).contacts == ()

    def test_of_another_member_is_refused(
        self, make: Make, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        body = b'{"errcode": 0, "userid": "wei", "mobile": "13800000002"}'
        vendor.failures.plan_answer(GET_USER_DETAIL, body)
        code = vendor.confirm(vendor_app, "lin", PRIVATE)
        with pytest.raises(ProviderUnavailable):
            make(contact_data=True).identify(answer(code))


class TestMembers:
    @pytest.mark.parametrize(
        ("value", "is_member"),
        [
            (f"{CORPID}:linxiaoyu", True),
            (f"{CORPID}:wei", True),
            (f"{CORPID}:qian", False),
            (f"{CORPID}:chen", False),
            (f"{CORPID}:made-up", False),
            (f"{CORPID}:openid:o123", None),
            ("ww00000000000000c2:ada", None),
        ],
    )
    def test_are_looked_up_in_the_contacts(
        self, provider: WeComProvider, value: str, is_member: bool | None
    ) -> None:
        assert provider.is_member(Credential("wecom", value)) is is_member

    @pytest.mark.parametrize("status", [Status.LEFT, Status.DISABLED])
    def test_who_leave_are_members_no_more(
        self, provider: WeComProvider, vendor: Platform, status: Status
    ) -> None:
        wei = Credential("wecom", f"{CORPID}:wei")
        vendor.set_status("wei", status)
        assert provider.is_member(wei) is False
        vendor.set_status("wei", Status.NOT_ACTIVATED)
        assert provider.is_member(wei) is True

    def test_are_members_without_members_only_though_the_app_is_not_visible(self, make: Make) -> None:
        provider = make(members_only=False)
        assert provider.is_member(Credential("wecom", f"{CORPID}:chen")) is True
        assert provider.is_member(Credential("wecom", f"{CORPID}:made-up")) is False

    @pytest.mark.parametrize("errcode", sorted(set(MESSAGES) - {60011, 60111, 40029}))
    def test_do_not_leave_because_the_platform_fails(
        self, provider: WeComProvider, vendor: Platform, errcode: int
    ) -> None:
        vendor.failures.plan(GET_USER, errcode, times=2)
        with pytest.raises((ProviderUnavailable, Misconfigured)):
            provider.is_member(Credential("wecom", f"{CORPID}:wei"))


class TestRefusals:
    @pytest.mark.parametrize(
        ("path", "errcode", "error"),
        [
            (GET_TOKEN, -1, ProviderUnavailable),
            (GET_TOKEN, 40001, Misconfigured),
            (GET_TOKEN, 40013, Misconfigured),
            (GET_TOKEN, 45009, ProviderUnavailable),
            (GET_USER_INFO, -1, ProviderUnavailable),
            (GET_USER_INFO, 40029, CodeInvalid),
            (GET_USER_INFO, 45009, ProviderUnavailable),
            (GET_USER_INFO, 60020, Misconfigured),
            (GET_USER_INFO, 301002, Misconfigured),
            (GET_USER_INFO, 48002, Misconfigured),
            (GET_USER_INFO, 99999, ProviderUnavailable),
            (GET_USER, 60011, NotMember),
            (GET_USER, 60020, Misconfigured),
            (GET_USER, 60111, NotMember),
            (GET_USER, -1, ProviderUnavailable),
        ],
    )
    def test_have_the_error_that_the_documentation_says(
        self,
        provider: WeComProvider,
        vendor: Platform,
        vendor_app: PlatformApp,
        path: str,
        errcode: int,
        error: type[ProviderError],
    ) -> None:
        vendor.failures.plan(path, errcode)
        with pytest.raises(error, match=str(errcode)):
            provider.identify(answer(vendor.confirm(vendor_app, "lin")))

    def test_a_code_longer_than_that_of_the_platform_is_not_sent(
        self, provider: WeComProvider, vendor: Platform
    ) -> None:
        with pytest.raises(CodeInvalid):
            provider.identify(answer("a" * 513))
        assert vendor.requests[GET_USER_INFO] == 0

    def test_an_untrusted_address_says_what_to_do_and_which_address_it_is(
        self, provider: WeComProvider, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        vendor.trust([])
        with pytest.raises(Misconfigured, match=r"企业可信IP.*60020.*from ip: 127\.0\.0\.1"):
            provider.identify(answer(vendor.confirm(vendor_app, "lin")))

    def test_no_message_and_no_log_contains_a_secret(
        self,
        make: Make,
        vendor: Platform,
        vendor_app: PlatformApp,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        provider, code = make(contact_data=True), vendor.confirm(vendor_app, "lin", PRIVATE)
        token = str(vendor.tokens.get(vendor_app)["access_token"])
        said = f"{vendor_app.secret} {token} {code}"
        vendor.failures.plan(GET_TOKEN, 40001, message=said)
        with pytest.raises(Misconfigured) as no_token:
            provider.identify(answer(code))
        vendor.failures.plan(GET_USER_INFO, 60020, message=said)
        with pytest.raises(Misconfigured) as untrusted:
            provider.identify(answer(code))
        provider.identify(answer(code))
        assert "GET" in caplog.text
        assert vendor_app.secret not in f"{no_token.value}{caplog.text}"
        for secret in (token, code):
            assert secret not in f"{untrusted.value}{caplog.text}"


class TestToken:
    def test_is_fetched_once_and_replaced_when_it_was_withdrawn(
        self, provider: WeComProvider, vendor: Platform, vendor_app: PlatformApp
    ) -> None:
        for _ in range(3):
            provider.identify(answer(vendor.confirm(vendor_app, "lin")))
        assert vendor.requests[GET_TOKEN] == 1
        vendor.tokens.withdraw(vendor_app)
        provider.identify(answer(vendor.confirm(vendor_app, "lin")))
        assert vendor.requests[GET_TOKEN] == 2

    def test_that_expired_at_the_platform_is_replaced_and_the_code_stays_good(
        self,
        provider: WeComProvider,
        vendor: Platform,
        vendor_app: PlatformApp,
        vendor_clock: AdjustableClock,
    ) -> None:
        provider.identify(answer(vendor.confirm(vendor_app, "lin")))
        vendor_clock.advance(7200)
        provider.identify(answer(vendor.confirm(vendor_app, "lin")))
        assert vendor.requests[GET_TOKEN] == 2
