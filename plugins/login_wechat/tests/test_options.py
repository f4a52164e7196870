"""What a deployer may set, and what is refused."""

import pytest

from strongroom_login_wechat.options import WeChatApp, WeChatOptions


def test_the_platform_is_wechat_unless_told_otherwise() -> None:
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
