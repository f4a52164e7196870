"""Composes messages: a short text for an SMS; for an e-mail, a text and HTML with the same content.

The HTML has inline styles and one table, because mail programs ignore style sheets, variables and
flexible boxes. It loads nothing but the logos of the brand.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from string import Template
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from strongroom.activity.notifications.templates import PRODUCT, TEMPLATES, MessageTexts, Text
from strongroom.foundation.colors import WHITE, Color, label_on, readable_on
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.ids import new_id
from strongroom.foundation.text_direction import with_shown_controls, with_shown_direction
from strongroom.plugin_api.contacts import wire_address
from strongroom.plugin_api.messages import Message

if TYPE_CHECKING:
    import jinja2

EMAIL: Final = "email"

_FONTS: Final = (
    "system-ui,-apple-system,'Segoe UI','PingFang SC','Microsoft YaHei','Noto Sans CJK SC',sans-serif"
)
_DARK_CARD: Final = Color(0x1A, 0x1E, 0x24)
_LINE_HEIGHTS: Final = {"zh": "28px"}
_LINE_HEIGHT: Final = "24px"
_QUESTIONS: Final = "Questions? Contact us:"
_EMPHASIZED: Final = {"$code": "code", "$link": "link"}
"""Paragraphs that the HTML shows as a large code or as a button."""

_FACT: Final = re.compile(r"([^:：$]+)[:：] ?(\$\w+)")
"""A line of a name and a value. Paragraphs of such lines alone are a table in the HTML."""

_TRUSTED: Final = frozenset({"code", "link", "minutes", "hours", "days", "text"})
"""Parameters of the server and of plugins. All others are names that users have chosen."""

_JOINERS: Final = "\u200c\u200d"
"""Format characters within emoji and within words of Persian and Indic scripts."""

_ONE_TIME_CODE: Final = re.compile(r"[0-9]{4,10}")
_URL: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.)\S*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    text: Markup
    facts: Sequence[tuple[str, Markup]] = ()


Recipient = tuple[str, str]
"""A channel, and an address on it."""


@dataclass(eq=False, repr=False)
class Composer:
    """Composes the messages of a deployment.

    Args:
        texts: the texts of each occasion.
        brand: the name and the colour of the product.
        logo_url: the public URL of the logo, as PNG or JPEG.
        dark_logo_url: the same for dark mode; ``None``: the logo is for both.
        code_in_subject: whether e-mails for a login and a registration have the code in the subject.
        sms_site: the host for which browsers fill in codes of SMS; empty: none is named.
    """

    _texts: MessageTexts
    _brand: PagesSettings
    _logo_url: str | None = None
    _dark_logo_url: str | None = None
    _: KW_ONLY
    code_in_subject: bool
    sms_site: str = ""

    def compose(
        self, recipient: Recipient, template: str, locale: str, parameters: Mapping[str, str]
    ) -> Message:
        """Compose a message.

        Args:
            recipient: the channel, such as ``email``, and the address on it.
            template: the occasion, one of ``TEMPLATES``.
            locale: the language, ``en`` or ``zh``.
            parameters: the values of the placeholders of the occasion.
        """
        channel, address = recipient
        text = self._texts.find_text(template, locale)
        values = {PRODUCT: self._brand.name_in(locale)} | {
            name: with_shown_controls(value) if name in _TRUSTED else plain_name(value)
            for name, value in parameters.items()
        }
        is_mail = channel == EMAIL
        subject = self._subject(text) if is_mail else text.subject
        return Message(
            id=new_id(),
            channel=channel,
            recipient=wire_address(address) if is_mail else address,
            template=template,
            text=self._mail_text(text, locale, values) if is_mail else self._sms_text(text, values),
            parameters=parameters if is_mail else _of_short_text(template, parameters),
            subject=_filled(subject, values),
            locale=locale,
            html=self._mail_html(text, locale, values) if is_mail else None,
        )

    def translate(self, text: str, locale: str) -> str:
        """Return a built-in text in a language."""
        return self._texts.translate(text, locale)

    def _subject(self, text: Text) -> str:
        return (self.code_in_subject and text.coded_subject) or text.subject

    def _mail_text(self, text: Text, locale: str, values: Mapping[str, str]) -> str:
        paragraphs = [_filled(paragraph, values) for paragraph in text.mail_paragraphs]
        if self._brand.support_url:
            address = self._brand.support_url.removeprefix("mailto:")
            paragraphs.append(f"{self._texts.translate(_QUESTIONS, locale)} {address}")
        return "\n\n".join(paragraphs)

    def _sms_text(self, text: Text, values: Mapping[str, str]) -> str:
        """Return the text, with the line of an origin-bound one-time code if a site is configured.

        Browsers fill such a code in on that site only: https://wicg.github.io/sms-one-time-codes/.
        """
        body = _filled(text.body, values)
        if not self.sms_site or not _ONE_TIME_CODE.fullmatch(values.get("code", "")):
            return body
        return f"{body}\n\n@{self.sms_site} #{values['code']}"

    def _mail_html(self, text: Text, locale: str, values: Mapping[str, str]) -> str:
        return str(_escaped(text.html, values)) if text.html else self._built_in(text, locale, values)

    def _built_in(self, text: Text, locale: str, values: Mapping[str, str]) -> str:
        blocks = [_block(paragraph, values) for paragraph in text.mail_paragraphs]
        primary = self._brand.primary_color
        return self._layout.render(
            language=locale,
            heading=_filled(text.subject, values),
            preheader=blocks[0].text.striptags() if blocks else "",
            blocks=blocks,
            action=text.action,
            product=self._brand.name_in(locale),
            logo_url=self._logo_url,
            dark_logo_url=self._dark_logo_url,
            primary=primary,
            label=label_on(primary),
            link=readable_on(WHITE, primary),
            dark_link=readable_on(_DARK_CARD, primary),
            fonts=_FONTS,
            line_height=_LINE_HEIGHTS.get(locale, _LINE_HEIGHT),
            footer=self._texts.translate(_QUESTIONS, locale) if self._brand.support_url else "",
            support_url=self._brand.support_url,
        )

    @cached_property
    def _layout(self) -> "jinja2.Template":
        # Imported lazily: most commands send no mail.
        from jinja2 import Environment, PackageLoader, StrictUndefined

        from strongroom.web.pages.template_copies import load_copies

        built_in = PackageLoader("strongroom.activity.notifications", "mails")
        loader = load_copies(self._brand.templates, "mails", built_in)
        environment = Environment(
            loader=loader, autoescape=True, trim_blocks=True, undefined=StrictUndefined
        )
        return environment.get_template("layout.html")


def _of_short_text(template: str, parameters: Mapping[str, str]) -> Mapping[str, str]:
    """Return the parameters of the built-in SMS: gateways limit the length of all that they get."""
    names = Template(TEMPLATES[template].body).get_identifiers()
    return {name: parameters[name] for name in names if name in parameters}


def plain_name(value: str) -> str:
    """Return a name as one line without URLs, whose bidirectional controls are visible.

    Users choose names, and a message of the server must not carry texts of others: line breaks could
    add a paragraph, and mail programs turn URLs into links.
    """
    shown = with_shown_direction(value)
    kept = (char if char.isprintable() or char in _JOINERS else " " for char in shown)
    line = " ".join("".join(kept).split())
    return _URL.sub("", line).strip()


def _filled(text: str, values: Mapping[str, str]) -> str:
    return Template(text).substitute(values)


def _block(paragraph: str, values: Mapping[str, str]) -> _Block:
    text = _escaped(paragraph, values)
    facts = [_FACT.fullmatch(line) for line in paragraph.splitlines()]
    if not all(facts):
        return _Block(_EMPHASIZED.get(paragraph, "text"), text)
    return _Block("facts", text, [(fact[1], _escaped(fact[2], values)) for fact in facts if fact])


def _escaped(text: str, values: Mapping[str, str]) -> Markup:
    """Return HTML: the text, with the placeholders replaced by escaped values."""
    is_document = text.lstrip().startswith("<")
    source = text if is_document else str(escape(text)).replace("\n", "<br>")
    filled = {name: str(escape(value)).replace("\n", "<br>") for name, value in values.items()}
    return Markup(Template(source).substitute(filled))  # noqa: S704  every value is escaped
