"""A browser without scripts in front of a server and a provider: cookies, redirects and forms."""

from typing import Self
from urllib.parse import urljoin, urlsplit

import httpx

from strongroom.testing.browser import Forms


class Visitor:
    """Keeps the cookies of each origin, as browsers do that isolate ports.

    Args:
        stop: redirects to a URL with this beginning are not followed.
    """

    def __init__(self, stop: str = "none:") -> None:
        self._cookies: dict[str, httpx.Cookies] = {}
        self.stop = stop
        self.url = ""
        self.page: httpx.Response

    def open(self, url: str, form: dict[str, str] | None = None) -> Self:
        """Open a page, or send a form to it, and follow redirects."""
        self.url = urljoin(self.url, url)
        parts = urlsplit(self.url)
        headers = {"Sec-Fetch-Site": "same-origin", "Accept-Language": "en"}
        method = "GET" if form is None else "POST"
        with httpx.Client(cookies=self._cookies.get(parts.netloc), timeout=60) as client:
            self.page = client.request(method, self.url, data=form, headers=headers)
            self._cookies[parts.netloc] = client.cookies
        location = urljoin(self.url, self.page.headers.get("Location", ""))
        if not self.page.is_redirect:
            return self
        if location.startswith(self.stop):
            self.url = location
            return self
        return self.open(location)

    @property
    def path(self) -> str:
        """The path of the page."""
        return urlsplit(self.url).path

    def submit(self, action: str = "", **fields: str) -> Self:
        """Send a form of the page: the one whose action ends so, or the only one."""
        forms = Forms(self.page.text).fields
        chosen = next(name for name in forms if name.endswith(action))
        return self.open(chosen, {**forms[chosen], **fields})
