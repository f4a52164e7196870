"""Forms of second factors and captchas on pages.

A factor has a :class:`FactorForm`, and a captcha provider a :class:`CaptchaWidget`. By default, users
get a form with one field of text, in the design of the server: enough for a code that people type.
Labels replace its texts, and a template replaces its parts.

Pages show such forms by :class:`FormsAPI`, whatever the plugins are that own the factors::

    @routes.operation("GET", "/vault", access=Access.PUBLIC)
    def vault():
        return host.pages.render("vault.html", captcha=host.pages.forms.captcha())
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Labels = Mapping[str, str]
"""A text by language, at least ``en``; empty: the server's own text."""

FactorPartName = Literal["challenge", "enrolment", "login", "account"]
"""A part of a factor's form; see :class:`FactorForm`."""

MAX_SHOWN: Final = 1500
"""Bytes of JSON that pages keep of what a challenge shows; browsers limit the size of cookies."""


@dataclass(frozen=True, slots=True)
class FactorForm:
    """The form of a second factor: the generic one, whose texts and parts the factor may replace.

    The generic form has one field of text, whose value without blanks around it is the answer of the
    client. ``{name}`` in :attr:`field` and :attr:`instruction` is replaced by the member ``name`` of
    what the ceremony shows.

    A template defines macros, each of which replaces a part of the form. They have the argument
    ``form``, and the variables ``text``, ``static`` and ``language`` of the plugin that owns the factor:

    ``challenge(form)``
        asks for the answer: an input named ``form.field``, and a button.
    ``enrolment(form)``
        shows what :meth:`SecondFactor.begin_enrolment` has returned, and asks for the answer.
    ``login(form)``
        begins a login by a :class:`PasswordlessFactor`.
    ``account(form)``
        adds to the list of the user's enrolments on the page of the account.

    The page has the element ``form`` around each of them but ``account``. ``form`` has the members of
    :class:`FormPart`.

    Args:
        label: the name of the factor, such as ``Grid card``.
        hint: a sentence about the factor, where users choose one.
        field: the label of the field.
        instruction: a sentence above the field of an enrolment.
        result: a sentence above what users receive once, which is :attr:`Enrolment.shown`.
        add: the button that begins the enrolment.
        use: what opens the form of a backup factor.
        attributes: of the input, such as ``{"inputmode": "numeric"}``.
        template: the name of a template of the plugin's package.
        script: the name of a static file of the plugin, which browsers run as a module.
        policy: sources that the form adds to directives of the Content-Security-Policy, such as
            ``{"img-src": "data:"}``.
        is_json: whether a script fills in the answer as JSON; otherwise the answer is a text.
        needs_answer: whether an enrolment asks for an answer; otherwise the page confirms it at once,
            with the answer ``None``.
    """

    label: Labels = dataclasses.field(default_factory=dict)
    hint: Labels = dataclasses.field(default_factory=dict)
    field: Labels = dataclasses.field(default_factory=dict)
    instruction: Labels = dataclasses.field(default_factory=dict)
    result: Labels = dataclasses.field(default_factory=dict)
    add: Labels = dataclasses.field(default_factory=dict)
    use: Labels = dataclasses.field(default_factory=dict)
    attributes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    template: str | None = None
    script: str | None = None
    policy: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_json: bool = False
    needs_answer: bool = True


@dataclass(frozen=True, slots=True)
class CaptchaWidget:
    """The form of a captcha: the generic one, or a template of the provider.

    The generic one shows the members ``image``, ``audio`` and ``question`` of the payload, as far as
    they are there, and asks for the answer as a text.

    Args:
        label: the label of the field; without it, the question.
        template: the name of a template of the plugin's package with the macro ``captcha(form)``, which
            renders an input named ``form.field``. ``form`` has the members of :class:`FormPart`.
        script: the name of a static file of the plugin, which browsers run as a module.
        policy: sources that it adds to directives of the Content-Security-Policy.
        is_automatic: whether the script answers without the user.
    """

    label: Labels = dataclasses.field(default_factory=dict)
    template: str | None = None
    script: str | None = None
    policy: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_automatic: bool = False


@dataclass(frozen=True, slots=True)
class FormPart:
    """What a macro of a form gets as ``form``.

    Args:
        kind: the kind of the factor or captcha.
        field: the name of the field with the answer, which is also its ``id``.
        shown: the members that the ceremony shows, or the payload of the captcha. Empty for a challenge
            whose members exceed :data:`MAX_SHOWN`.
        label: the label of the field, in the language of the page.
        instruction: the sentence above the field.
        attributes: attributes of the input.
        is_wrong: whether the answer before was refused.
        is_first: whether the field is the first of the page, which gets the focus.
        values: what the page has added, such as ``device``, the id of the browser for limits, and
            ``api``, the path of the REST API.
    """

    kind: str
    field: str
    shown: Mapping[str, Any]
    label: str = ""
    instruction: str = ""
    attributes: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_wrong: bool = False
    is_first: bool = False
    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PagePart:
    """A part of a page that belongs to a plugin, as a variable of :meth:`PagesAPI.render`.

    The page adds its script, and its sources to the Content-Security-Policy. In the template,
    ``{{ part(is_wrong=true) }}`` renders it with members of :class:`FormPart`.

    Args:
        kind: the kind of the factor or captcha.
        render: returns the HTML.
        script: the path of its script; ``None`` without one.
        policy: the sources that it adds.
        is_automatic: :attr:`CaptchaWidget.is_automatic`.
    """

    kind: str
    render: Callable[..., Any] = dataclasses.field(repr=False)
    script: str | None = None
    policy: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_automatic: bool = False

    def __call__(self, **members: Any) -> Any:
        """Return the HTML, with the members of the form that the template states."""
        return self.render(**members)


@dataclass(frozen=True, slots=True)
class FactorView:
    """An enabled second factor as pages show it, in the language of the page.

    Args:
        kind: its kind, such as ``recovery-code``.
        field: the name of the field with its answer, such as ``recoveryCode``.
        label: its name.
        hint: a sentence about it; may be empty.
        result: the sentence above what users receive once.
        add: the text of the button that begins the enrolment.
        use: the text that opens the form of a backup factor.
        is_backup: :attr:`SecondFactor.is_backup`.
        may_repeat: :attr:`SecondFactor.may_repeat`.
        is_json: :attr:`FactorForm.is_json`.
        needs_answer: :attr:`FactorForm.needs_answer`.
        is_passwordless: whether a login can begin with it.
    """

    kind: str
    field: str
    label: str
    hint: str
    result: str
    add: str
    use: str
    is_backup: bool
    may_repeat: bool
    is_json: bool
    needs_answer: bool
    is_passwordless: bool


class FormsAPI(ABC):
    """The forms of the enabled second factors and of the captcha, for pages of any plugin."""

    @abstractmethod
    def factors(self) -> Sequence[FactorView]:
        """Return the factors: those that a login can begin with first, and backups last."""

    @abstractmethod
    def factor(
        self, kind: str, part: FactorPartName, shown: Mapping[str, Any] | None = None, **values: Any
    ) -> PagePart | None:
        """Return a part of a factor's form; ``None`` if the factor is not enabled or has no such part.

        Args:
            kind: the kind of the factor.
            part: ``challenge`` and ``enrolment`` have a generic form, ``login`` and ``account`` none.
            shown: the members that the ceremony shows.
            values: become :attr:`FormPart.values`.
        """

    @abstractmethod
    def captcha(self, purpose: str = "") -> PagePart | None:
        """Issue a captcha, and return its part; ``None`` if the client has requested too many.

        The form of the page has the fields ``captcha`` and ``captchaAnswer`` then, which
        :meth:`captcha_answer` reads. After a form without an answer, the captcha is one that people
        solve, because the browser has not run the script of the other.

        Args:
            purpose: the form that may answer it, such as ``register``; forms of other plugins never may.
        """

    @abstractmethod
    def captcha_answer(self, fields: Mapping[str, str], purpose: str = "") -> Mapping[str, str] | None:
        """Return the member ``captcha`` of a request's body, or the argument of ``require_captcha``.

        Args:
            fields: the fields of the form.
            purpose: the one that the captcha was issued for; the answer to another captcha is wrong.

        Returns:
            ``None`` if the form had no captcha, or no answer.
        """
