"""Options: accepted and refused values."""

import pytest

from strongroom_login_dingtalk.options import DingTalkApp, DingTalkOptions


def test_the_default_platform_is_dingtalk() -> None:
    options = DingTalkOptions(apps={})
    assert options.login_url == "https://login.dingtalk.com"
    assert options.api_url == "https://api.dingtalk.com"
    assert options.oapi_url == "https://oapi.dingtalk.com"


def test_only_members_enter_by_default() -> None:
    assert DingTalkApp(client_id="ding1", client_secret="secret").members_only


@pytest.mark.parametrize("name", ["login_url", "api_url", "oapi_url"])
@pytest.mark.parametrize("url", ["http://dingtalk.example.org", "ftp://127.0.0.1", "dingtalk.com", ""])
def test_urls_are_encrypted_or_of_this_machine(name: str, url: str) -> None:
    with pytest.raises(ValueError, match=f"^{name}: must begin with https://"):
        DingTalkOptions(apps={}, **{name: url})  # type: ignore[arg-type]


@pytest.mark.parametrize("organization", ["", "a:b", "Main", "x" * 33])
def test_an_organization_has_a_plain_name(organization: str) -> None:
    with pytest.raises(ValueError, match=r"^organization: must be"):
        DingTalkApp(client_id="ding1", client_secret="secret", organization=organization)


def test_the_options_of_all_methods_are_checked_too() -> None:
    with pytest.raises(ValueError, match=r"^return_origins: "):
        DingTalkOptions(apps={}, return_origins=("*",))
