"""A client of the REST API of logins by redirect."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from strongroom.testing.server import LiveServer, LiveUser, Reply
from strongroom_login_oauth.method import OAuthLogin


@dataclass
class RestClient:
    """A client of the REST API that keeps its cookies."""

    server: LiveServer
    method: type[OAuthLogin[Any]]
    by: LiveUser | None = None
    cookies: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.method.name

    def post(self, path: str, body: Mapping[str, Any]) -> Reply:
        """Send a POST request."""
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {"Cookie": cookies} if cookies else {}
        reply = self.server.request("POST", path, by=self.by, headers=headers, json_body=body)
        for name, value in re.findall(
            r"(?:^|, )([^=;, ]+)=([^;]*)", reply.headers.get("set-cookie", "")
        ):
            if name.lower() not in {"path", "expires", "max-age", "samesite"}:
                self.cookies[name] = value
        return reply

    def begin(self, purpose: str = "login", **body: str) -> dict[str, str]:
        """Request the URL of the platform's page."""
        reply = self.post(self.method.request_path(), {"purpose": purpose, **body})
        assert reply.status == HTTPStatus.CREATED, reply.text
        begun: dict[str, str] = reply.json()
        return begun

    def finish(self, answer: Mapping[str, str]) -> Reply:
        """Log in with the answer of the platform."""
        return self.post(f"/api/v1/{self.name}-authorizations", answer)

    def bind(self, answer: Mapping[str, str]) -> Reply:
        """Bind the account of the answer."""
        return self.post(self.method.ids_path(), answer)


def get_answer(method: type[OAuthLogin[Any]], redirect: str) -> dict[str, str]:
    """Return the body for the REST API that the redirect of the platform leads to."""
    query = query_parameters(redirect)
    names = ("state", *method.parameters)
    code = next(query[name] for name in method.code_parameters if name in query)
    return {"code": code, **{name: query[name] for name in names if name in query}}


def query_parameters(url: str) -> dict[str, str]:
    """Return the parameters of a redirect."""
    return dict(parse_qsl(urlsplit(url).query, keep_blank_values=True))
