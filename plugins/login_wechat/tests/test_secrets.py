"""Secrets, codes, tokens and session keys appear in no text that may be logged."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from strongroom.plugin_api.login import LoginAttempt
from strongroom_login_oauth.errors import ProviderError
from strongroom_login_wechat.api import WeChatApi
from strongroom_login_wechat.method import WeChatLogin
from strongroom_login_wechat.mini_program import MiniProgram
from strongroom_login_wechat.options import WeChatOptions
from strongroom_login_wechat.website import Website
from strongroom_simulators.wechat import Platform, PlatformApp

from .harness import identify


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


def test_no_options_object_shows_a_secret(options: WeChatOptions) -> None:
    secrets = [app.secret for app in options.apps.values()]
    assert not any(secret in repr(options) or secret in str(options) for secret in secrets)


def test_no_log_contains_the_parameters_of_a_login(
    login: WeChatLogin,
    attempt: Callable[..., LoginAttempt],
    vendor: Platform,
    log: pytest.LogCaptureFixture,
) -> None:
    site, mini = login.options.apps["site"].appid, login.options.apps["mini"].appid
    scan_code = vendor.scan(site, "lin")
    login_code = vendor.log_in(mini, "lin")
    phone_code = vendor.give_phone_number(mini, "lin")
    login.authenticate(attempt(app="site", code=scan_code))
    login.authenticate(attempt(app="mini", code=login_code, phoneCode=phone_code))
    secrets = [scan_code, login_code, phone_code, vendor.session_key(mini, "lin")]
    secrets += [app.secret for app in vendor.apps.values()]
    secrets.append(str(vendor.app_tokens.get(vendor.app(mini), force=False)["access_token"]))
    assert "/wxa/business/getuserphonenumber?access_token=***" in log.text
    assert not [secret for secret in secrets if secret in log.text]


def test_no_exception_contains_the_parameters_of_a_refused_request(
    site: Website, vendor: Platform, site_app: PlatformApp
) -> None:
    message = f"invalid appsecret {site_app.secret} of code planted-code"
    vendor.failures.plan("/sns/oauth2/access_token", 40125, message=message)
    with pytest.raises(ProviderError, match="40125: invalid appsecret") as caught:
        identify(site, "planted-code")
    assert site_app.secret not in _everything(caught.value)
    assert "planted-code" not in _everything(caught.value)


def test_no_exception_contains_the_body_of_a_refusal(client: WeChatApi, vendor: Platform) -> None:
    vendor.failures.plan("/cgi-bin/stable_token", 40125, message="invalid appsecret the-secret")
    with pytest.raises(ProviderError) as caught:
        client.post("/cgi-bin/stable_token", {"secret": "the-secret"})
    assert "the-secret" not in _everything(caught.value)


def test_no_exception_contains_the_parameters_of_an_unanswered_request(options: WeChatOptions) -> None:
    client = WeChatApi(replace(options, api_url="http://127.0.0.1:1"))
    with pytest.raises(ProviderError) as caught:
        client.get("/sns/jscode2session", secret="the-secret", js_code="the-code")
    client.close()
    assert "the-secret" not in _everything(caught.value)
    assert "the-code" not in _everything(caught.value)


def test_no_exception_shows_an_answer_that_is_no_json(mini: MiniProgram, vendor: Platform) -> None:
    vendor.failures.plan_answer("/sns/jscode2session", b'{"session_key": "the-key"')
    with pytest.raises(ProviderError) as caught:
        identify(mini, "a-code")
    assert "the-key" not in _everything(caught.value)


def _everything(error: BaseException | None) -> str:
    """All that an exception and what led to it say, even where a traceback would not show it."""
    texts = []
    while error is not None:
        texts += [str(error), repr(error), repr(vars(error))]
        error = error.__cause__ or error.__context__
    return "".join(texts)
