"""Settings of the brand end up in style sheets, attributes and headers, so hostile ones are refused."""

from typing import Any

import pytest

from strongroom.foundation.config.page_settings import FooterLink, PagesSettings

URLS = [
    "JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "http://example.com/",
    "//example.com/",
    "https://",
    "https:example.com",
    'https://example.com/"onclick="x',
    "https://example.com/<b>",
    "https://exa mple.com/",
    "https://example.com:99999/",
    "https://[/",
    "https:\\\\example.com",
    "\u202ehttps://example.com/",
    " https://example.com/",
    f"https://example.com/{'a' * 2048}",
    "",
]
COLORS = [
    "red",
    "#12345",
    "#1234567",
    "#fff;}*{display:none",
    "url(x)",
    "#\uff26\uff26\uff26",
    " #fff",
    "",
]
NAMES = ["", "  ", "a\nb", "a\r\nSubject: x", "\u202eabc", "a\0", "x" * 61]
FONTS = ['"', "a;b", "a}b", "url(x)", "a\\b", "", "a,,b", "a/*"]


@pytest.mark.parametrize(
    ("key", "values"),
    [
        *((key, URLS) for key in ("terms_url", "privacy_url", "support_url")),
        *((key, COLORS) for key in ("primary", "primary_dark", "background", "background_dark")),
        *((key, NAMES) for key in ("name", "terms_version")),
        ("names", [{"zh": name} for name in NAMES] + [{"fr": "Coffre"}]),
        ("font", FONTS),
        ("icp", ["<b>", "沪ICP备1号\n", "ICP", "沪ICP备" + "1" * 30, ""]),
        ("public_security", ["沪公网安备 1号", "31010102000001", "沪公网安备 31010102000001号&x"]),
    ],
)
def test_a_hostile_value_is_refused_by_its_key(key: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(ValueError, match=rf"^{key}: (must be|unknown language)"):
            PagesSettings(**{key: value})


def test_hostile_links_are_refused() -> None:
    for url in [*URLS, "mailto:a@b.c"]:
        with pytest.raises(ValueError, match=r"^url: must be an https: URL"):
            FooterLink(url, "Label")
    for name in NAMES:
        with pytest.raises(ValueError, match=r"^label: must be one line"):
            FooterLink("https://example.com/", name)
    with pytest.raises(ValueError, match=r"^links: must be at most 10"):
        PagesSettings(links=(FooterLink("https://example.com/", "Label"),) * 11)


def test_ordinary_values_are_accepted() -> None:
    brand = PagesSettings(
        name="Acme & Söhne",
        names={"zh": "保险库"},
        font="Inter, Noto Sans SC, 思源黑体",
        icp="京ICP证030173号",
        public_security="沪公网安备31010102000001号",
        support_url="mailto:help@example.com",
    )
    assert (brand.name_in("zh"), brand.name_in("en")) == ("保险库", "Acme & Söhne")
    assert brand.public_security_number == "31010102000001"
