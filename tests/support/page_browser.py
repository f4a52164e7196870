"""A browser without scripts, in front of the pages of an application in this process."""

import re
from collections.abc import Mapping, Sequence
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from strongroom.testing.browser import Forms
from tests.support.api import PASSWORD, Answer, Api

ROOT: Final = "/account"


class PageBrowser:
    """Opens pages, sends their forms and follows redirects within the server."""

    def __init__(self, api: Api, **headers: str) -> None:
        self._api = api
        self._client = api.app.test_client()
        self._headers = {"Sec-Fetch-Site": "same-origin"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        self.page: Answer
        self.path = ""

    def open(
        self, path: str, form: Mapping[str, str | Sequence[str]] | None = None, **headers: str
    ) -> Answer:
        """Open a page, or send a form to it; follow redirects within the server."""
        self.request(path, form, **headers)
        location = urljoin(path, self.page.headers.get("Location", ""))
        is_own = location.startswith("/") and self.page.status_code in (302, 303)
        return self.open(location) if is_own else self.page

    def request(
        self, path: str, form: Mapping[str, str | Sequence[str]] | None = None, **headers: str
    ) -> Answer:
        """Do the same without following a redirect."""
        sent = {**self._headers, **headers}
        method = "GET" if form is None else "POST"
        self.page = Answer(self._client.open(path, method=method, data=form, headers=sent))
        self.path = urlsplit(path).path
        return self.page

    def send_json(self, path: str, body: object, **headers: str) -> Answer:
        """Send JSON as a script of a page does."""
        return Answer(self._client.post(path, json=body, headers={**self._headers, **headers}))

    def send_bytes(self, method: str, path: str, data: bytes, **headers: str) -> Answer:
        """Send bytes as a script of a page does."""
        sent = {**self._headers, **headers}
        return Answer(self._client.open(path, method=method, data=data, headers=sent))

    def send_environ(self, method: str, path: str, environ: Mapping[str, object]) -> Answer:
        """Send a request with variables of WSGI, such as the stream of its body."""
        headers = self._headers
        return Answer(self._client.open(path, method=method, headers=headers, environ_overrides=environ))

    def head(self, path: str) -> Answer:
        """Request the headers of a page."""
        return Answer(self._client.head(path, headers=self._headers))

    @property
    def forms(self) -> dict[str, dict[str, str]]:
        """The hidden fields of the forms of the page, by their actions."""
        return Forms(self.page.text).fields

    def action(self, path: str) -> str:
        """Return the action of the form that is sent to a path, with the secret in its query, if any."""
        return next(action for action in self.forms if action.partition("?csrf=")[0] == path)

    def send(self, action: str, **fields: str) -> Answer:
        """Fill in a form of the page, and send it."""
        return self.submit(f"{ROOT}/{action}", **fields)

    def submit(self, action: str, **fields: str) -> Answer:
        """Fill in the form of the page with a path as its action, and send it."""
        return self.open(action, {**self.forms[action], **fields})

    def log_in(self, name: str, password: str = PASSWORD) -> Answer:
        """Log in with the password."""
        self.open(f"{ROOT}/login")
        return self.send("login", username=name, password=password)

    def request_code(self, name: str) -> Answer:
        """Have a code sent, from the login page on."""
        self.open(f"{ROOT}/login")
        self.send("login", username=name, way="code")
        return self.send("login/code", captchaAnswer="42")

    def remember(self, name: str, value: str) -> None:
        """Keep a cookie that a script has set."""
        self._client.set_cookie(name, value)

    def forget(self, name: str) -> None:
        """Lose a cookie of all pages, of the account, or of the page."""
        for path in ("/", ROOT, self.path):
            self._client.delete_cookie(name, path=path)

    def cookie(self, name: str, path: str = "/") -> str | None:
        """Return the value of a cookie."""
        cookie = self._client.get_cookie(name, path=path)
        return cookie.value if cookie else None

    @property
    def set_cookies(self) -> dict[str, Any]:
        """The cookies that the response sets."""
        jar = SimpleCookie()
        for value in self.page.headers.getlist("Set-Cookie"):
            jar.load(value)
        return dict(jar)

    @property
    def message(self) -> str:
        """The first message of the page."""
        match = re.search(r'<p role="(?:alert|status)"[^>]*>([^<]+)', self.page.text)
        return match.group(1) if match else ""

    @property
    def is_logged_in(self) -> bool:
        """Whether the browser has the session of a user."""
        return self.request(f"{ROOT}/").status_code == 200
