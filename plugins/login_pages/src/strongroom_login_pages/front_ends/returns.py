"""Front ends that open the login page, and the way back to them."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from strongroom.plugin_api.browser import loopback_redirect
from strongroom_login_pages.flow import ReturnRequest
from strongroom_login_pages.front_ends.codes import LoginCodes

_CODE_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_MAX_STATE: Final = 512


class FrontEnds:
    """The front ends that the configuration names.

    Args:
        return_urls: the URLs that the login may return to.
        app_return_urls: the loopback URLs of programs, without their port.
    """

    def __init__(
        self, return_urls: Iterable[str], app_return_urls: Iterable[str], codes: LoginCodes
    ) -> None:
        self._return_urls = frozenset(return_urls)
        self._app_return_urls = frozenset(app_return_urls)
        self._codes = codes

    def request_of(self, query: Mapping[str, str]) -> ReturnRequest | None:
        """Return the request of a front end, or ``None`` if a parameter is not valid."""
        url = query["returnUrl"]
        request = ReturnRequest(
            url,
            query.get("state", ""),
            query.get("codeChallenge", ""),
            is_app=loopback_redirect(url) in self._app_return_urls,
        )
        is_valid = (
            (request.is_app or url in self._return_urls)
            and len(request.state) <= _MAX_STATE
            and _CODE_CHALLENGE.fullmatch(request.code_challenge)
        )
        return request if is_valid else None

    def url_with_code(self, request: ReturnRequest, tokens: dict[str, Any]) -> str:
        """Return the URL that hands the login over to a front end."""
        code = self._codes.issue(tokens, request.code_challenge)
        separator = "&" if "?" in request.url else "?"
        return f"{request.url}{separator}{urlencode({'code': code, 'state': request.state})}"
