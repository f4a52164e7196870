"""Requests that clients send by the browsers of users, and the redirects in return."""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from flask import redirect, request

from strongroom.plugin_api.host import HostAPI

_SEE_OTHER: Final = 303


class Unanswerable(Exception):
    """The client or its redirect URI is unknown, so that only a page can say what is wrong.

    Args:
        reason: the key of the text.
        detail: what developers of the client need to know, in English.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def read_parameters(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return the parameters of the current request that have one of the names."""
    return [(name, value) for name in names for value in request.values.getlist(name)]


def get_base_path(host: HostAPI) -> str:
    """Return the path of the server, without a trailing slash."""
    return urlsplit(host.public_url).path.rstrip("/")


def redirect_exactly(url: str) -> Any:
    """Return the redirect to a URL as it is; Flask's would encode it again."""
    response = redirect("", _SEE_OTHER)
    response.headers["Location"] = url
    return response


def redirect_form(host: HostAPI, path: str, names: Sequence[str]) -> Any:
    """Return the redirect of a form to a path that takes its fields in the query.

    A form of another site arrives without the session, whose cookie is ``SameSite=Lax``.
    """
    query = urlencode(read_parameters(names))
    return redirect(f"{get_base_path(host)}{path}?{query}", _SEE_OTHER)
