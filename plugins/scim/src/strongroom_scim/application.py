"""The WSGI application at ``/scim/v2``."""

import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl
from wsgiref.types import StartResponse, WSGIEnvironment

from scim2_models import InvalidValueException, NotFoundException, SCIMException
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_scim.handler import ReportingHandler
from strongroom_scim.paths import TENANTS, get_challenge, get_resource
from strongroom_scim.provider import make_provider
from strongroom_scim.refusals import Refusal, refusal_from
from strongroom_scim.service import DirectoryService
from strongroom_scim.storage import DirectoryStorage

_MAX_QUERY_MEMBERS: Final = 50


class ScimApplication:
    """Finds the directory of a request, limits its rate, and answers."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self._services = {
            has_groups: DirectoryService(make_provider(has_groups=has_groups))
            for has_groups in (False, True)
        }

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        return _send(self._answer(environ), start_response)

    def _answer(self, environ: WSGIEnvironment) -> ScimResponse:
        service = self._services[True]
        try:
            tenant_id, request = self._find_directory(environ)
            service = self._services[tenant_id is not None]
            request.body = environ["wsgi.input"].read()
            storage = DirectoryStorage(self._host, service.provider, tenant_id)
            return ReportingHandler(service, storage).handle(request)
        except ApiError as error:
            response = service.error_response(refusal_from(error))
            return self._with_headers(response, error, environ)
        except RecursionError:
            return service.error_response(InvalidValueException(detail="Nested too deeply."))
        except SCIMException as error:
            response = service.error_response(error)
            if isinstance(error, Refusal) and error.retry_after is not None:
                response.headers["Retry-After"] = str(error.retry_after)
            return response

    def _with_headers(
        self, response: ScimResponse, error: ApiError, environ: WSGIEnvironment
    ) -> ScimResponse:
        if error.retry_after is not None:
            response.headers["Retry-After"] = str(error.retry_after)
        if error.status == HTTPStatus.UNAUTHORIZED:
            is_wrong = "HTTP_AUTHORIZATION" in environ
            response.headers["WWW-Authenticate"] = get_challenge(self._host, is_wrong=is_wrong)
        return response

    def _find_directory(self, environ: WSGIEnvironment) -> tuple[str | None, ScimRequest]:
        """Return the tenant of the directory that is the caller, and the request.

        Raises:
            ApiError: the request has no caller that an administrator has registered.
        """
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        is_change = method not in ("GET", "HEAD") and not path.endswith("/.search")
        self._host.authenticate(
            scope=Scope.USERS_WRITE if is_change else Scope.USERS_READ,
            audience=get_resource(self._host),
        )
        caller = self._host.caller
        assert caller is not None  # noqa: S101  authenticate() has set it
        rate = f"{self._host.options.max_requests_per_minute}/minute"
        self._host.limits.check_rate("requests", [rate], caller.user_id)
        tenant_id, base, rest = caller.tenant_id, get_resource(self._host), path
        parts = path.strip("/").split("/", 2)
        if parts[0] == TENANTS:
            if len(parts) < 2:  # noqa: PLR2004  the word and the id
                raise NotFoundException(detail="No SCIM endpoint here.")
            tenant_id = parts[1]
            base, rest = f"{base}/{TENANTS}/{tenant_id}", "/".join(["", *parts[2:]])
        self._host.provisioning.directory(tenant_id)
        return tenant_id, _read_request(environ, base, rest)


def _read_request(environ: WSGIEnvironment, base_url: str, path: str) -> ScimRequest:
    headers = {
        key.removeprefix("HTTP_").replace("_", "-"): value
        for key, value in environ.items()
        if key.startswith("HTTP_")
    }
    headers["Content-Type"] = environ.get("CONTENT_TYPE", "")
    try:
        members = parse_qsl(
            environ.get("QUERY_STRING", ""),
            keep_blank_values=True,
            max_num_fields=_MAX_QUERY_MEMBERS,
        )
    except ValueError as error:
        raise InvalidValueException(detail="The query has too many members.") from error
    return ScimRequest(environ["REQUEST_METHOD"], base_url, path, dict(members), headers)


def _send(response: ScimResponse, start_response: StartResponse) -> Iterable[bytes]:
    body = b"" if response.body is None else json.dumps(response.body).encode()
    headers: dict[str, Any] = {**response.headers, "Cache-Control": "no-store"}
    if response.body is None:
        headers.pop("Content-Type", None)
    if response.status is not HTTPStatus.NO_CONTENT:
        headers["Content-Length"] = str(len(body))
    start_response(f"{response.status.value} {response.status.phrase}", list(headers.items()))
    return [body]
