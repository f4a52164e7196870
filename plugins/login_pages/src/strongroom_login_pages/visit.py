"""One request of a browser for a page."""

import json
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Request

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.session import Session

TEXTS: Final = frozenset(
    {
        "error.captcha-invalid",
        "error.captcha-required",
        "error.challenge-invalid",
        "error.factor-invalid",
        "error.invalid-credentials",
        "error.last-contact",
        "error.second-factor-needed",
        "error.too-many-requests",
        "error.user-suspended",
        "error.wrong-password",
    }
)
"""The error codes with texts of their own."""


class FormRefused(HTTPException):
    """The form was not sent by one of our pages, or is malformed."""

    code = 400


class Visit:
    """A request of a browser, and the responses to it.

    Args:
        session: the session of the browser; a view replaces it, and the application stores it.
    """

    def __init__(self, host: HostAPI, request: Request, session: Session) -> None:
        self._host = host
        self.request = request
        self.session = session

    @property
    def form(self) -> MultiDict[str, str]:
        """The fields of the form."""
        return self.request.form

    def json_field(self, name: str) -> Any:
        """Return a field that a script has filled in.

        Raises:
            FormRefused: it is missing or no JSON.
        """
        try:
            return json.loads(self.form[name])
        except (KeyError, ValueError, RecursionError) as error:
            raise FormRefused from error

    def update(self, **changes: Any) -> None:
        """Change members of the session."""
        self.session = replace(self.session, **changes)

    def rest(self, method: str, path: str, body: Any = None) -> RestResponse:
        """Send a request to the REST API, as the user who is logged in, if any."""
        language = self.session.language
        headers = {"X-Device-Id": self.session.device}
        if language:
            headers["Accept-Language"] = language
        return self._host.rest(method, path, body, token=self.session.token, headers=headers)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Any:
        """Return the response with a page."""
        return self._host.page(
            template,
            status=status,
            policy=self._policy(),
            language=self.session.language,
            csrf=self.session.csrf,
            device=self.session.device,
            root=self.request.root_path,
            base=self.request.root_path.removesuffix("/account"),
            **values,
        )

    def redirect(self, path: str) -> Any:
        """Return a redirect to one of our pages."""
        return redirect(f"{self.request.root_path}{path}", 303)

    def redirect_to(self, url: str) -> Any:
        """Return a redirect to a front end."""
        response = redirect(url, 303)
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _policy(self) -> dict[str, str]:
        """Return the differences to the strict policy: our own script, forms, and images in pages."""
        return {
            "script-src": "'self'",
            "img-src": "data:",
            "media-src": "data:",
            # Browsers apply it to the redirect after the form, too.
            "form-action": " ".join(("'self'", *self._return_origins())),
            "require-trusted-types-for": "'script'",
        }

    def _return_origins(self) -> list[str]:
        if self.session.return_to is None:
            return []
        parts = urlsplit(self.session.return_to.url)
        return [f"{parts.scheme}://{parts.netloc}"]


def text_of(error: str | None) -> str:
    """Return the key of the text for an error."""
    return error if error in TEXTS else "error.other"
