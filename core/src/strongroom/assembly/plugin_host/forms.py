"""The forms of second factors and captchas on pages, rendered by the plugin that owns them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from markupsafe import Markup

from strongroom.assembly.page_templates import template_folder
from strongroom.assembly.plugin_host.page_parts import PageParts
from strongroom.foundation.locales import choose_locale
from strongroom.foundation.plugins.form_faults import contents_fault
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.plugin import Plugin, PluginError
from strongroom.identity.verification.captchas import PAGE_CAPTCHA, CaptchaService, PageCaptcha
from strongroom.plugin_api.factors import PasswordlessFactor, SecondFactor, factor_kind, member_name
from strongroom.plugin_api.forms import (
    CaptchaWidget,
    FactorForm,
    FactorPartName,
    FactorView,
    FormPart,
    FormsAPI,
    Labels,
    PagePart,
)
from strongroom.plugin_api.web import RestResponse
from strongroom.web.http.internal_requests import send_request
from strongroom.web.http.request import page_request
from strongroom.web.pages.design import TEXTS
from strongroom.web.pages.html import Pages
from strongroom.web.pages.languages import page_languages
from strongroom.web.pages.template_copies import SERVER

_GENERIC: Final = "strongroom/forms.html"
_CAPTCHA_ID: Final = "captcha"
_CAPTCHA_ANSWER: Final = "captchaAnswer"
_CAPTCHA_KIND: Final = "captchaKind"
_PICTURE: Final = "picture"
_INPUT: Final[Mapping[str, str]] = {"class": "code", "autocomplete": "one-time-code"}

Form = FactorForm | CaptchaWidget


@dataclass(frozen=True, slots=True)
class FormOwner:
    """A plugin with a form.

    Args:
        pages: renders its templates; ``None``: the form has no template.
        script: the path of its script.
    """

    pages: Pages | None
    template: str
    script: str | None
    static: Callable[[str], str]

    def macro(self, name: str) -> Callable[[FormPart], Any] | None:
        """Return a macro of its template; ``None`` without one."""
        if self.pages is None:
            return None
        macro: Callable[[FormPart], Any] | None = getattr(
            self.pages.macros(self.template, static=self.static), name, None
        )
        return macro


class PluginForms:
    """The forms of all plugins.

    Args:
        parts: has the static files of plugins.
    """

    def __init__(self, plugins: PluginManager, parts: PageParts) -> None:
        self._plugins = plugins
        self._parts = parts
        self._generic = Pages("strongroom.web.pages", SERVER)
        self._owners: dict[type[Any], FormOwner] = {}

    def owner(self, extension: type[Any], form: Form) -> FormOwner:
        """Return the owner of an extension's form."""
        if extension not in self._owners:
            plugin = self._plugins.find_owner(extension)
            self._owners[extension] = self._new_owner(plugin, form)
        return self._owners[extension]

    def generic(self, name: str) -> Callable[[FormPart], Any] | None:
        """Return a macro of the generic form; ``None`` without one."""
        macro: Callable[[FormPart], Any] | None = getattr(self._generic.macros(_GENERIC), name, None)
        return macro

    def _new_owner(self, plugin: Plugin, form: Form) -> FormOwner:
        pages = None if form.template is None else _pages(plugin)
        script = None if form.script is None else self._parts.static_path(plugin.name, form.script)
        return FormOwner(
            pages, form.template or "", script, lambda name: self._parts.static_path(plugin.name, name)
        )

    def require_usable(self, extensions: Iterable[Any], *, has_pages: bool) -> None:
        """Refuse forms that pages cannot show, at the start instead of at a login.

        Args:
            extensions: the enabled factors, and the captcha provider.
            has_pages: whether a plugin has login pages.

        Raises:
            PluginError: a form names a file that does not exist, or a factor has no form.
        """
        for extension in extensions:
            plugin = self._plugins.find_owner(type(extension))
            if fault := self._fault(plugin, extension, has_pages=has_pages):
                raise PluginError(f"{plugin}: {type(extension).__name__}: {fault}")

    def _fault(self, plugin: Plugin, extension: Any, *, has_pages: bool) -> str | None:
        if isinstance(extension, SecondFactor):
            if has_pages and (fault := _missing(extension)):
                return fault
            form: Form | None = extension.form
        else:
            form = extension.widget
        if form is None:
            return None
        return contents_fault(form) or self._file_fault(plugin, form)

    def _file_fault(self, plugin: Plugin, form: Form) -> str | None:
        if form.script is not None:
            folder = self._parts.static_folders.get(plugin.name)
            if folder is None or form.script not in folder:
                return f"the script {form.script!r} must be a file of register_static_files"
        if form.template is None:
            return None
        if plugin.file is not None or not _pages(plugin).has(form.template):
            return f"its package has no template {form.template!r} in the folder templates"
        return None


def _pages(plugin: Plugin) -> Pages:
    package = plugin.module.__package__ or plugin.module.__name__
    return Pages(package, template_folder(plugin))


def _missing(factor: SecondFactor[Any]) -> str | None:
    """Return why pages cannot ask for a factor; ``None`` if they can."""
    if factor.form is None:
        return "has no form, so its users could not log in by the login pages; give it a FactorForm"
    if isinstance(factor, PasswordlessFactor) and factor.form.template is None:
        return "no user can type its answers, so the generic form is not enough; give it a template"
    return None


@dataclass(eq=False, repr=False)
class HostForms(FormsAPI):
    """Implements ``host.pages.forms``.

    Args:
        forms: returns the forms of all plugins.
        factors: returns the enabled factors by name.
        captchas: returns the service of captchas.
        base_path: the path of the REST API.
        plugin: the name of the plugin with the pages.
    """

    _forms: Callable[[], PluginForms]
    _factors: Callable[[], Mapping[str, SecondFactor[Any]]]
    _captchas: Callable[[], CaptchaService]
    _base_path: str
    _plugin: str

    def factors(self) -> Sequence[FactorView]:
        return sorted(self._views(), key=lambda view: (view.is_backup, not view.is_passwordless))

    def _views(self) -> Iterator[FactorView]:
        for name, factor, form in self._by_kind.values():
            yield _view(name, factor, form)

    @cached_property
    def _by_kind(self) -> Mapping[str, tuple[str, SecondFactor[Any], FactorForm]]:
        """The enabled factors with forms, with their names."""
        factors = self._factors().items()
        return {
            factor_kind(name): (name, factor, factor.form)
            for name, factor in factors
            if factor.form is not None
        }

    def factor(
        self, kind: str, part: FactorPartName, shown: Mapping[str, Any] | None = None, **values: Any
    ) -> PagePart | None:
        if kind not in self._by_kind:
            return None
        name, factor, form = self._by_kind[kind]
        forms, members = self._forms(), dict(shown or {})
        owner = forms.owner(type(factor), form)
        macro = owner.macro(part) or forms.generic(part)
        if macro is None:
            return None
        view = FormPart(
            kind,
            member_name(name),
            members,
            label=_filled(form.field, members) or _text("factor-code"),
            instruction=_filled(form.instruction, members),
            attributes={**_INPUT, **form.attributes},
            values=values,
        )
        return _part(macro, view, owner, form)

    def captcha(self, purpose: str = "") -> PagePart | None:
        service, forms = self._captchas(), self._forms()
        alternative = service.page_alternative
        wants_picture = alternative is not None and _wants_picture(page_request().form)
        provider = alternative if alternative and wants_picture else service.page_provider
        issued = self._issue(PageCaptcha(provider, self._purpose(purpose)))
        if issued.error is not None:
            return None
        payload = dict(issued.json)
        owner = forms.owner(type(provider), provider.widget)
        macro = owner.macro("captcha") or forms.generic("captcha")
        if macro is None:
            raise LookupError("the generic captcha has no macro")
        question = payload.get("question")
        label = _filled(provider.widget.label, payload) or str(question or _text("captcha"))
        values = {"picture": _CAPTCHA_KIND if alternative else None}
        view = FormPart(payload["kind"], _CAPTCHA_ANSWER, payload, label=label, values=values)
        hidden = {_CAPTCHA_ID: payload["id"], **({_CAPTCHA_KIND: _PICTURE} if wants_picture else {})}
        return _part(_with_hidden(macro, hidden), view, owner, provider.widget)

    def _issue(self, captcha: PageCaptcha) -> RestResponse:
        """Issue a captcha by the route, whose limit it consumes."""
        token = PAGE_CAPTCHA.set(captcha)
        try:
            return send_request(self._base_path, "POST", "/captchas", {}, None, {})
        finally:
            PAGE_CAPTCHA.reset(token)

    def captcha_answer(self, fields: Mapping[str, str], purpose: str = "") -> Mapping[str, str] | None:
        service, identifier = self._captchas(), fields.get(_CAPTCHA_ID)
        answer = fields.get(_CAPTCHA_ANSWER, "")
        # Without its script, a browser sends no answer, and gets a picture.
        if not identifier or (not answer and service.page_alternative):
            return None
        return {"id": service.page_row_id(identifier, self._purpose(purpose)), "answer": answer}

    def _purpose(self, purpose: str) -> str:
        """Return the purpose of a form, which no form of another plugin has."""
        return f"{self._plugin}/{purpose}"


def _wants_picture(fields: Mapping[str, str]) -> bool:
    """Return whether the form asks for a picture, or came without the answer of a script."""
    is_unanswered = _CAPTCHA_ID in fields and not fields.get(_CAPTCHA_ANSWER)
    return is_unanswered or fields.get(_CAPTCHA_KIND) == _PICTURE


def _view(name: str, factor: SecondFactor[Any], form: FactorForm) -> FactorView:
    label = _label(form.label) or factor_kind(name).replace("-", " ").capitalize()
    return FactorView(
        kind=factor_kind(name),
        field=member_name(name),
        label=label,
        hint=_label(form.hint),
        result=_label(form.result) or _text("factor-result"),
        add=_label(form.add) or _text("factor-add", name=label),
        use=_label(form.use) or _text("factor-use", name=label),
        is_backup=factor.is_backup,
        may_repeat=factor.may_repeat,
        is_json=form.is_json,
        needs_answer=form.needs_answer,
        is_passwordless=isinstance(factor, PasswordlessFactor),
    )


def _part(macro: Callable[[FormPart], Any], view: FormPart, owner: FormOwner, form: Form) -> PagePart:
    is_automatic = isinstance(form, CaptchaWidget) and form.is_automatic

    def render(*, values: Mapping[str, Any] | None = None, **members: Any) -> Any:
        return macro(replace(view, **members, values={**view.values, **(values or {})}))

    return PagePart(view.kind, render, owner.script, form.policy, is_automatic)


def _with_hidden(
    macro: Callable[[FormPart], Any], fields: Mapping[str, str]
) -> Callable[[FormPart], Any]:
    """Return a macro that also renders the hidden fields of the captcha."""
    element = Markup('<input type="hidden" name="{}" value="{}">')
    hidden = Markup().join(element.format(name, value) for name, value in fields.items())
    return lambda view: hidden + macro(view)


def _label(labels: Labels) -> str:
    if not labels:
        return ""
    return labels[choose_locale(page_languages(), known=labels.keys())]


def _filled(labels: Labels, members: Mapping[str, Any]) -> str:
    """Return a label with the members that the ceremony shows."""
    text = _label(labels)
    for name, value in members.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _text(key: str, **values: str) -> str:
    return TEXTS.translator(choose_locale(page_languages()))(key, **values)
