"""Requests to providers that administrators of tenants name: none reaches the server's own network."""

import io
from collections.abc import Mapping
from typing import Any, Final

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict

from strongroom.plugin_api.outbound import (
    MAX_BODY,
    OutboundClient,
    OutboundFailed,
    OutboundRefused,
)
from strongroom_login_oauth.transport import AnswerTooLarge

# The guard sends its own, and decodes no compressed answer.
_OMITTED: Final = frozenset({"accept-encoding", "connection", "host", "content-length"})


class AddressRefused(requests.ConnectionError):
    """The guard forbids the URL, or an address of its host."""


class NotReached(requests.ConnectionError):
    """The provider was not reached, or did not answer in time."""


class GuardedAdapter(HTTPAdapter):
    """Sends the requests of a session by :class:`~strongroom.plugin_api.outbound.OutboundClient`."""

    def __init__(self, client: OutboundClient) -> None:
        self._client = client
        super().__init__()

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,  # noqa: ARG002  the answer is read, up to a limit
        timeout: Any = None,  # noqa: ARG002  the client's own
        verify: bool | str = True,  # noqa: ARG002  it is always verified
        cert: Any = None,  # noqa: ARG002  there is none
        proxies: Mapping[str, str] | None = None,  # noqa: ARG002  none is used
    ) -> requests.Response:
        """Send a request, and return the response with its content.

        Raises:
            AddressRefused: the guard forbids the URL or its addresses.
            NotReached: there is no complete response in time.
            AnswerTooLarge: the response is larger than the guard reads.
        """
        headers = {
            name: str(value) for name, value in request.headers.items() if name.lower() not in _OMITTED
        }
        content = request.body or b""
        body = content.encode() if isinstance(content, str) else bytes(content)
        try:
            answer = self._client.request(
                str(request.method), str(request.url), headers=headers, body=body
            )
        except OutboundRefused as error:
            refusal: Exception = AddressRefused(str(error))
        except OutboundFailed as error:
            refusal = NotReached(str(error))
        else:
            if len(answer.body) >= MAX_BODY:
                raise AnswerTooLarge("the answer is too large")
            response = requests.Response()
            response.status_code = answer.status
            response.headers = CaseInsensitiveDict(answer.headers)
            response.url, response.request = str(request.url), request
            response.raw = io.BytesIO(answer.body)
            return response
        # Raised outside the handler, because the request has secrets.
        raise refusal
