"""A browser without scripts, for the tests of pages on a live server: forms, cookies and redirects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookies import SimpleCookie
from typing import Final
from urllib.parse import urlencode

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, Reply

_FIELDS: Final = {"input", "button", "select", "textarea"}


@dataclass
class PageForm:
    """A form of a page.

    Args:
        action: the path that it is sent to.
        fields: the hidden fields with their values.
        names: the names of all its fields and buttons.
    """

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def fits(self, fields: Mapping[str, str]) -> bool:
        """Return whether a person could send these fields by this form."""
        hidden = self.fields.items()
        return fields.keys() <= self.names and all(
            fields.get(name, value) == value for name, value in hidden
        )


class Forms(HTMLParser):
    """The forms of a page, in its order, but for those that only a script shows.

    Args:
        path: the path of the page, to which a form without an action is sent.
    """

    def __init__(self, html: str, path: str = "") -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self._form = PageForm(path)
        self._path = path
        self.feed(html)

    @property
    def fields(self) -> dict[str, dict[str, str]]:
        """The hidden fields by the path that a form is sent to; of several to one path, the first's."""
        first: dict[str, dict[str, str]] = {}
        for form in self.forms:
            first.setdefault(form.action, form.fields)
        return first

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = PageForm(values.get("action") or self._path)
            if "hidden" not in values:
                self.forms.append(self._form)
        elif tag in _FIELDS and "name" in values:
            self._form.names.add(values["name"])
            if values.get("type") == "hidden":
                self._form.fields[values["name"]] = values.get("value", "")


class Browser:
    """A browser without scripts.

    Args:
        headers: headers of all requests; an underscore in a name is a hyphen.
    """

    def __init__(self, server: LiveServer, **headers: str) -> None:
        self._server = server
        self._headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.cookies: dict[str, str] = {}
        """The cookies by name."""
        self.page = Reply(0, {}, b"")
        """The page, or the last response of another kind."""
        self.path = ""
        """The path of the page."""

    def open(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Reply:
        """Open a page, or send a form to it; follow redirects on the server."""
        self.request(path, form, **headers)
        location = self.page.headers.get("location", "")
        return self.open(location) if location.startswith("/") else self.page

    def request(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Reply:
        """Do the same without following a redirect."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        sent = {**self._headers, **headers, **({"Cookie": cookies} if cookies else {})}
        body = None
        if form is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form).encode()
        self.path = path
        self.page = self._server.request(
            "GET" if form is None else "POST", path, headers=sent, body=body
        )
        set_cookie = SimpleCookie(self.page.headers.get("set-cookie", ""))
        self.cookies.update({name: morsel.value for name, morsel in set_cookie.items()})
        return self.page

    @property
    def all_forms(self) -> list[PageForm]:
        """The forms of the page, in its order."""
        return Forms(self.page.text, self.path).forms

    @property
    def forms(self) -> dict[str, dict[str, str]]:
        """The hidden fields by the path that a form is sent to; of several to one path, the first's."""
        return Forms(self.page.text, self.path).fields

    def submit(self, action: str, **fields: str) -> Reply:
        """Fill in a form of the page, and send it.

        Args:
            action: the path that the form is sent to. Of several, the first that has the fields, with
                the same values of hidden ones; otherwise the first.

        Raises:
            LookupError: the page has no such form; the message names its forms.
        """
        forms = [form for form in self.all_forms if form.action == action]
        if not forms:
            actions = ", ".join(sorted({form.action for form in self.all_forms})) or "none"
            page = f"the page {self.path} ({self.page.status})"
            raise LookupError(f"{page} has no form for {action}; its forms are sent to: {actions}")
        form = next((form for form in forms if form.fits(fields)), forms[0])
        return self.open(action, {**form.fields, **fields})

    def log_in(self, user: LiveUser, password: str = PASSWORD) -> Reply:
        """Log in on the login page, unless it is open because another page has led there."""
        if not self.path.startswith("/account/login"):
            self.open("/account/login")
        return self.submit("/account/login", username=user.email, password=password)
