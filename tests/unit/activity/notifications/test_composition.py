"""E-mails have a text and HTML of the same content; names of users cannot change either."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from strongroom.activity.notifications.composition import Composer
from strongroom.activity.notifications.templates import (
    TEMPLATES,
    MessageTexts,
    TextsRefused,
    read_texts,
    template_parameters,
)
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.locales import LOCALES
from strongroom.foundation.translations import Translations
from strongroom.plugin_api.messages import Message

CODE = {"code": "123456", "minutes": "5", "source": "Firefox, Windows, 192.0.2.7"}
MAIL = ("email", "maria@example.com")
INVITATION = {"code": "secret-1", "days": "7", "tenant": "Acme", "inviter": "Maria", "time": "now"}
HOSTILE = (
    "Eve\r\nBcc: all@example.com\r\n\r\nRead http://evil.example/x",
    '"><svg onload=alert(1)>',
    "{{ 7 * 7 }}${code}$code",
    "javascript://x www.evil.example HTTPS://evil.example",
    "a" * 200,
    "\u202eevil",
)


class Page(HTMLParser):
    """The visible text, the tags and the URLs of an HTML mail."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.tags: set[str] = set()
        self.urls: set[str] = set()
        self._skipped = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        values = dict(attrs)
        self.urls |= {value for name in ("href", "src") if (value := values.get(name))}
        self._skipped = tag in ("style", "title") or "display:none" in (values.get("style") or "")

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.texts.append(data.strip())


def composer(texts: Path | None = None, *, code_in_subject: bool = True, **brand: Any) -> Composer:
    own = read_texts(texts) if texts else {}
    settings = PagesSettings(**brand)
    return Composer(MessageTexts(Translations(), own), settings, code_in_subject=code_in_subject)


def invited(name: str) -> Message:
    return composer().compose(MAIL, "invitation", "en", {**INVITATION, "inviter": name, "tenant": name})


def test_a_link_is_a_button() -> None:
    url = "https://files.example.com/account/invitations/secret-1"
    message = composer().compose(MAIL, "invitation-link", "en", {**INVITATION, "link": url})
    assert message.html is not None
    page = Page(message.html)
    assert url in page.urls
    assert "Open the invitation" in page.texts


@pytest.mark.parametrize(
    ("occasion", "values", "facts"),
    [
        ("invitation", INVITATION, ["Space", "Acme", "Invited by", "Maria", "When", "now"]),
        ("plugin-notice", {"subject": "Off", "text": "A webhook.", "time": "now"}, ["When", "now"]),
    ],
)
def test_the_facts_of_a_mail_are_a_table(
    occasion: str, values: dict[str, str], facts: list[str]
) -> None:
    html = composer().compose(MAIL, occasion, "en", values).html or ""
    table = html.partition('class="facts"')[2].partition("</table>")[0]
    assert re.findall(r"<td[^>]*>([^<]*)</td>", table) == facts


def test_a_text_of_the_deployment_without_a_link_precedes_the_built_in_one(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en/invitation.txt").write_text("Subject: Join\n\nEnter $code at app.example.com")
    values = {**INVITATION, "link": "https://files.example.com/x"}
    message = composer(tmp_path).compose(MAIL, "invitation-link", "en", values)
    assert message.text == "Enter secret-1 at app.example.com"
    message = composer(tmp_path).compose(MAIL, "invitation-link", "zh", values)
    assert "https://files.example.com/x" in message.text


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("occasion", TEMPLATES)
def test_the_html_of_a_mail_has_the_content_of_its_text(occasion: str, locale: str) -> None:
    values = {name: f"{name} value" for name in template_parameters(occasion)}
    message = composer(support_url="https://acme.example/help").compose(MAIL, occasion, locale, values)
    assert message.html is not None
    page = Page(message.html)
    # Above its URL, a button repeats what the subject says.
    labels = {Translations().translate(TEMPLATES[occasion].action, locale)}
    # The names in a table have no colon.
    ignored = re.compile(r"[\s:：]")
    shown = ignored.sub("", "".join(text for text in page.texts if text not in labels))
    assert ignored.sub("", message.text) in shown
    assert f'<html lang="{locale}">' in message.html
    # Nothing is loaded from elsewhere.
    assert page.tags.isdisjoint({"img", "script", "link", "iframe", "form"})


def test_an_sms_is_short_and_has_no_html() -> None:
    message = composer().compose(("sms", "+8613812345678"), "login", "zh", CODE)
    assert message.text.startswith("验证码")
    assert "123456" in message.text
    assert "\n" not in message.text
    assert message.html is None


@pytest.mark.parametrize("locale", LOCALES)
def test_an_sms_with_a_code_names_the_site_in_its_last_line_by_setting(locale: str) -> None:
    texts = MessageTexts(Translations())
    made = Composer(texts, PagesSettings(), code_in_subject=True, sms_site="files.example.com")
    sms = ("sms", "+8613812345678")
    assert made.compose(sms, "login", locale, CODE).text.split("\n")[-2:] == [
        "",
        "@files.example.com #123456",
    ]
    # The code of an invitation is not for the field of a one-time code, and e-mails have no such line.
    assert "@files" not in made.compose(sms, "invitation", locale, INVITATION).text
    assert "@files" not in made.compose(MAIL, "login", locale, CODE).text


@pytest.mark.parametrize("occasion", ["login", "register", "bind"])
def test_the_code_stands_in_the_subject_by_setting(occasion: str) -> None:
    subject = composer().compose(MAIL, occasion, "en", CODE).subject
    assert subject is not None
    assert subject.startswith("123456 ")
    subject = composer(code_in_subject=False).compose(MAIL, occasion, "en", CODE).subject
    assert subject is not None
    assert "123456" not in subject


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize("occasion", ["reset-password", "unbind"])
def test_a_code_that_gives_access_is_in_no_subject(occasion: str, locale: str) -> None:
    message = composer().compose(MAIL, occasion, locale, CODE)
    assert "123456" not in (message.subject or "")
    assert "123456" in message.text


def test_a_mail_has_the_brand() -> None:
    made = composer(name="Acme <Files>", primary="#ffdd00", support_url="mailto:help@acme.example")
    message = made.compose(MAIL, "login", "en", CODE)
    assert message.html is not None
    assert "Acme &lt;Files&gt;" in message.html
    assert "#ffdd00" in message.html
    assert message.text.endswith("Questions? Contact us: help@acme.example")
    assert Page(message.html).urls == {"mailto:help@acme.example"}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_users_stay_names(name: str) -> None:
    message = invited(name)
    assert message.subject is not None
    assert message.html is not None
    assert "\n" not in message.subject
    assert "\r" not in message.subject + message.text
    assert "://" not in message.text
    assert "www." not in message.text
    page = Page(message.html)
    assert "svg" not in page.tags
    assert page.urls == set()
    assert page.tags == Page(invited("Maria").html or "").tags
    assert "49" not in message.html.replace("#eef1f5", "")
    assert message.text.count("secret-1") == 1


def test_the_html_of_a_deployment_replaces_the_layout(tmp_path: Path) -> None:
    (tmp_path / "en").mkdir()
    (tmp_path / "en/login.txt").write_text("Subject: Code for $product\n\n$code, $minutes minutes")
    (tmp_path / "en/login.html").write_text("<p>Acme: <b>$code</b> ($minutes)</p>")
    message = composer(tmp_path, name="A & B").compose(MAIL, "login", "en", {**CODE, "code": "<1>"})
    assert message.subject == "Code for A & B"
    assert message.text == "<1>, 5 minutes"
    assert message.html == "<p>Acme: <b>&lt;1&gt;</b> (5)</p>"


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"en/login.html": "<p>$code</p>"}, "needs login.txt next to it"),
        ({"en/login.html": "$code"}, "must be an HTML document"),
        ({"en/login.html": "<p>$minutes</p>"}, r"must contain \$code"),
        ({"en/login.html": "<p>$code $name</p>"}, r"unknown placeholder \$name"),
    ],
)
def test_a_wrong_html_file_is_refused(tmp_path: Path, files: dict[str, str], fault: str) -> None:
    (tmp_path / "en").mkdir()
    if "next to it" not in fault:
        (tmp_path / "en/login.txt").write_text("Subject: Code\n\n$code")
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(TextsRefused, match=fault):
        read_texts(tmp_path)


def test_a_gateway_gets_the_parameters_of_the_short_text() -> None:
    sms = composer().compose(("sms", "+8613800138000"), "login", "en", CODE)
    assert set(sms.parameters) == {"code", "minutes"}
    assert set(composer().compose(MAIL, "login", "en", CODE).parameters) == set(CODE)
