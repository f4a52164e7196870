"""Options: accepted and refused values."""

from typing import Any

import pytest

from strongroom_login_wechat.options import WeChatApp, WeChatOptions


def test_the_default_platform_is_wechat() -> None:
    options = WeChatOptions(apps={})
    assert options.open_url == "https://open.weixin.qq.com"
    assert options.api_url == "https://api.weixin.qq.com"


@pytest.mark.parametrize(
    ("kind", "redirect_uri"),
    [("website", None), ("mini_program", "https://example.org/callback")],
)
def test_a_website_and_only_a_website_has_a_redirect_uri(kind: str, redirect_uri: str | None) -> None:
    with pytest.raises(ValueError, match="redirect_uri"):
        WeChatApp(kind, "wx1", "secret", redirect_uri)


@pytest.mark.parametrize("redirect_uri", ["", "/callback", "files.example.org/callback", "https:///x"])
def test_a_redirect_uri_is_absolute(redirect_uri: str) -> None:
    with pytest.raises(ValueError, match=r"^redirect_uri: must be like"):
        WeChatApp("website", "wx1", "secret", redirect_uri)


@pytest.mark.parametrize("account", ["", "a:b", "Main", "x" * 33])
def test_an_account_has_a_plain_name(account: str) -> None:
    with pytest.raises(ValueError, match=r"^account: must be"):
        WeChatApp("mini_program", "wx1", "secret", account=account)


@pytest.mark.parametrize("origin", ["*", "app.example.org", "https://a.example/x", "https://a.example;"])
def test_only_origins_may_embed(origin: str) -> None:
    WeChatOptions(apps={}, embedders=("https://app.example.org", "http://localhost:3000"))
    with pytest.raises(ValueError, match=r"^embedders: must be like"):
        WeChatOptions(apps={}, embedders=(origin,))


@pytest.mark.parametrize("key", ["open_url", "api_url"])
@pytest.mark.parametrize(
    "url", ["http://api.example.org", "ftp://127.0.0.1", "https://", "http://10.0.0.1"]
)
def test_secrets_go_nowhere_that_others_can_read(key: str, url: str) -> None:
    urls: dict[str, Any] = {key: url}
    with pytest.raises(ValueError, match=f"^{key}: must begin with https://"):
        WeChatOptions(apps={}, **urls)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8090", "http://[::1]:8090", "http://localhost:8090"])
def test_a_platform_on_this_machine_needs_no_tls(url: str) -> None:
    assert WeChatOptions(apps={}, open_url=url, api_url=url).api_url == url
