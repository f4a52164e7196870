"""A browser without scripts, for the tests of pages on a live server: forms, cookies and redirects."""

from html.parser import HTMLParser
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser, Reply


class Forms(HTMLParser):
    """The forms of a page: the hidden fields by action."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.fields: dict[str, dict[str, str]] = {}
        self._current: dict[str, str] = {}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._current = self.fields.setdefault(values.get("action", ""), {})
        elif tag == "input" and values.get("type") == "hidden":
            self._current[values["name"]] = values["value"]


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
    def forms(self) -> dict[str, dict[str, str]]:
        """The hidden fields of the forms of the page, by the path that each form is sent to."""
        return {action or self.path: fields for action, fields in Forms(self.page.text).fields.items()}

    def submit(self, action: str, **fields: str) -> Reply:
        """Fill in a form of the page, and send it.

        Args:
            action: the path that the form is sent to.
        """
        return self.open(action, {**self.forms[action], **fields})

    def log_in(self, user: LiveUser, password: str = PASSWORD) -> Reply:
        """Log in on the login page, unless it is open because another page has led there."""
        if not self.path.startswith("/account/login"):
            self.open("/account/login")
        return self.submit("/account/login", username=user.email, password=password)
