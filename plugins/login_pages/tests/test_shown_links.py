"""The places of the links of providers on the login page."""

from strongroom.plugin_api.pages import LoginLink, PageLink
from strongroom_login_pages.sign_in.links import ShownLinks


def scan(name: str, platform: str) -> PageLink:
    link = LoginLink(name, {"en": name}, f"/{name}", shows_qr_code=True)
    return PageLink(name, f"Log in with {platform}", link.path, platform=platform, link=link)


def names(links: object) -> list[str]:
    assert isinstance(links, list)
    return [link.name for link in links]


SCANS = [scan("wechat_1", "WeChat"), scan("wecom", "WeCom"), scan("wechat_2", "WeChat")]


def test_several_apps_of_a_platform_have_one_tab() -> None:
    shown = ShownLinks.of(SCANS, "", None, has_form=True)
    assert names(shown.tabs) == ["wechat_1", "wecom"]
    assert names(shown.links) == ["wechat_2"]


def test_a_further_app_of_a_platform_follows_the_other_platforms() -> None:
    others = [PageLink(name, name, f"/{name}", platform=name) for name in ("alpha", "beta")]
    shown = ShownLinks.of([*SCANS, *others], "", None, has_form=True)
    assert names(shown.links) == ["alpha", "beta", "wechat_2"]
