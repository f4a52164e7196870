"""The WSGI application at ``/dav``."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import partial
from http import HTTPStatus
from typing import Any, Final, NoReturn
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIEnvironment

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_webdav import changing, locking, proppatch, reading, transfers
from strongroom_webdav.conditions import is_met, parse_if, require_tags
from strongroom_webdav.errors import DavError
from strongroom_webdav.junk import JunkFiles, is_junk
from strongroom_webdav.locks import Locks, find_lock_ids
from strongroom_webdav.replies import Reply, refusal
from strongroom_webdav.requests import DavRequest, Path
from strongroom_webdav.resources import Resource, Resources, begin_request
from strongroom_webdav.xml_text import escape

PREFIX: Final = "/dav"

CHALLENGE: Final = 'Basic realm="Strongroom", charset="UTF-8"'
"""The only challenge of a 401, because Windows and macOS do not skip others."""

Change = Callable[[HostAPI, DavRequest, Resource | None], Any]
"""Changes what the path of a request leads to, and returns the response."""

_CHANGES: Final[Mapping[str, Change]] = {
    "PUT": changing.put_file,
    "MKCOL": changing.make_collection,
    "DELETE": changing.delete,
    "COPY": transfers.copy,
    "MOVE": transfers.move,
    "PROPPATCH": proppatch.change_properties,
    "LOCK": locking.lock,
    "UNLOCK": locking.unlock,
}

_CREATING: Final = ("PUT", "MKCOL")
"""The methods that create what the path of a request leads to."""

_CONDITIONS: Final = {
    HTTPStatus.LOCKED.value: "lock-token-submitted",
    HTTPStatus.INSUFFICIENT_STORAGE.value: "quota-not-exceeded",
}
"""The conditions of RFC 4918, section 16, and RFC 4331, section 6, by the status of an error."""


class DavApplication:
    """Authenticates requests by access keys, and answers them."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self._methods: Mapping[str, Callable[[DavRequest], Any]] = {
            "OPTIONS": lambda _: reading.send_options(self._allowed),
            "GET": partial(reading.send_file, host),
            "HEAD": partial(reading.send_file, host),
            "PROPFIND": partial(reading.find_properties, host),
            **{method: partial(self._change, change) for method, change in _CHANGES.items()},
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        begin_request()
        response: Iterable[bytes] = self._answer(DavRequest(environ))(environ, start_response)
        return response

    @property
    def _allowed(self) -> str:
        return ", ".join(self._methods)

    def _answer(self, request: DavRequest) -> Any:
        try:
            self._host.authenticate(scope=Scope.FILES_READ, authenticators=("basic",))
            if is_junk(self._host, request.path) and request.method != "OPTIONS":
                return JunkFiles(self._host).answer(request)
            return self._methods.get(request.method, _refuse_method)(request)
        except DavError as error:
            return self._refuse(error, request)
        except ApiError as error:
            return self._refuse_by_host(error, request)

    def _refuse(self, error: DavError, request: DavRequest) -> Reply:
        path = request.environ["PATH_INFO"].encode("latin-1")
        reply = refusal(error, escape(quote(request.root + "/") + quote(path.lstrip(b"/"))))
        if error.status == HTTPStatus.METHOD_NOT_ALLOWED:
            return Reply(reply.status, {**reply.headers, "Allow": self._allowed}, reply.pieces)
        return reply

    def _refuse_by_host(self, error: ApiError, request: DavRequest) -> Any:
        if (condition := _CONDITIONS.get(error.status)) is not None:
            status = HTTPStatus(error.status)
            return self._refuse(DavError(status, str(error), condition=condition), request)
        response = self._host.error_response(error)
        if error.status == HTTPStatus.UNAUTHORIZED:
            response.headers["WWW-Authenticate"] = CHALLENGE
        return response

    def _change(self, change: Change, request: DavRequest) -> Any:
        if request.method in ("COPY", "MOVE") and is_junk(self._host, request.destination):
            raise DavError(HTTPStatus.FORBIDDEN, "Files with this name are hidden.")
        locks, resources = Locks(self._host), Resources(self._host)
        find = resources.find_new if request.method in _CREATING else resources.find
        resource = find(request.path)
        require_tags(request, resource)
        header = parse_if(request)
        if not is_met(header, request.path, resources.find, locks.find_tokens):
            raise DavError(HTTPStatus.PRECONDITION_FAILED, "If is false.")
        lock_ids = find_lock_ids(header.tokens)
        with ExitStack() as stack:
            stack.enter_context(self._host.files.presenting(lock_ids))
            created = _find_created(request, resource)
            if created is not None:
                stack.enter_context(locks.claiming(created, lock_ids))
            reply = change(self._host, request, resource)
            if request.method == "MOVE" and resource is not None:
                locks.release_moved(resource, lock_ids)
        return reply


def _refuse_method(_request: DavRequest) -> NoReturn:
    raise DavError(HTTPStatus.METHOD_NOT_ALLOWED)


def _find_created(request: DavRequest, resource: Resource | None) -> Path | None:
    """Return the path of what a request may create, which may be reserved."""
    if request.method in ("COPY", "MOVE"):
        return request.destination
    return request.path if resource is None and request.method in _CREATING else None
