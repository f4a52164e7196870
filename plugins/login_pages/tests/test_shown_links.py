"""The places of the links of providers on the login page."""

from dataclasses import replace

from strongroom.plugin_api.pages import Connection, LoginLink, PageLink
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


def test_further_platforms_are_buttons() -> None:
    scans = [scan(name, name) for name in ("alpha", "beta", "gamma", "delta")]
    places = ShownLinks.of(scans, "", None, has_form=True)
    assert names(places.tabs) == ["alpha", "beta", "gamma"]
    assert names(places.links) == ["delta"]


def test_apps_with_names_of_their_own_have_one_tab() -> None:
    links = [scan("wechat_1", "WeChat"), scan("wechat_2", "WeChat (intern)")]
    connection = Connection("wechat", {"en": "WeChat"}, "/bind", "wechat", (), "/ids", lambda held: held)
    links = [
        replace(item, link=replace(item.link, connection=connection)) for item in links if item.link
    ]
    places = ShownLinks.of(links, "", None, has_form=True)
    assert (names(places.tabs), names(places.links)) == (["wechat_1"], ["wechat_2"])
