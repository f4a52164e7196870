"""Route registration. One decorator declares everything about an operation, including its access."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeVar

import flask_smorest
from flask import Request
from marshmallow import RAISE, Schema, missing
from webargs.flaskparser import FlaskParser

from strongroom.errors import (
    StrongroomError,
    TokenInvalid,
    TokenRequired,
    TooManyRequests,
    Unavailable,
    UnsupportedMediaType,
    ValidationFailed,
)
from strongroom.plugin_api.web import ErrorKind
from strongroom.web.errors import ErrorSchema
from strongroom.web.guard import Access, guarded
from strongroom.web.json_input import check_parameters, parse_json
from strongroom.web.location import Location, with_location

ViewT = TypeVar("ViewT", bound=Callable[..., Any])

ErrorKinds = Sequence[type[StrongroomError] | ErrorKind]
Json = dict[str, Any]

HEADERS_KEY: Final = "x-strongroom-headers"
"""The temporary key of an operation's header names, which ``openapi`` replaces by descriptions."""

_TOKEN: Final[list[dict[str, list[str]]]] = [{"bearer": []}, {"accessToken": []}]
_SECURITY: Final[Mapping[Access, list[dict[str, list[str]]]]] = {
    Access.PUBLIC: [],
    Access.OPTIONAL: [*_TOKEN, {}],
    Access.USER: _TOKEN,
    Access.ADMIN: _TOKEN,
}


class Parser(FlaskParser):
    """Parses bodies, queries and forms; rejects unknown fields and text that cannot be stored."""

    DEFAULT_VALIDATION_STATUS = ValidationFailed.status
    DEFAULT_UNKNOWN_BY_LOCATION = {"json": RAISE, "query": RAISE}  # noqa: RUF012  as in the base class

    def load_json(self, req: Request, schema: Schema) -> Any:  # noqa: ARG002  of the base class
        """Parse the body; reject other media types, which the base class treats as an empty body."""
        if not req.is_json:
            if req.content_length or req.mimetype:
                raise UnsupportedMediaType("The body must be JSON: Content-Type: application/json.")
            return missing
        content = req.get_data()
        return parse_json(content) if content else missing

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        """Reject a query whose text cannot be stored."""
        check_parameters(req.args.items(multi=True))
        return super().load_querystring(req, schema)

    def load_form(self, req: Request, schema: Schema) -> Any:
        """Reject a form whose text cannot be stored."""
        check_parameters(req.form.items(multi=True))
        return super().load_form(req, schema)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]  # flask-smorest has no types
    """The routes of a feature."""

    ARGUMENTS_PARSER = Parser()

    def operation(
        self,
        method: str,
        path: str,
        *,
        access: Access,
        body: type[Schema] | None = None,
        query: type[Schema] | None = None,
        returns: type[Schema] | None = None,
        status: int = 200,
        errors: ErrorKinds = (),
        limit: str | None = None,
        location: Location | None = None,
        request_headers: Sequence[str] = (),
        response_headers: Sequence[str] = (),
        document: dict[str, Any] | None = None,
    ) -> Callable[[ViewT], ViewT]:
        """Register a view for a method and a path.

        The view receives the path parameters by name, the query as the keyword ``query`` and the body
        as the keyword ``body``. Its name, in camel case, is the ``operationId``, and its docstring the
        description.

        Args:
            method: the HTTP method.
            path: the path, with parameters as ``<name>``.
            access: the required authentication.
            body: the schema of a JSON body.
            query: the schema of the query parameters.
            returns: the schema of the response.
            status: the status of a successful response.
            errors: the errors that the view may raise.
            limit: the key of ``[limits]`` with the rate limit per client address.
            location: the Location of a resource that a 201 has created.
            request_headers: the headers that the view reads; keys of :data:`headers.REQUEST_HEADERS`.
            response_headers: the headers of success; keys of :data:`headers.RESPONSE_HEADERS`.
            document: additions to the OpenAPI operation.
        """

        def decorate(view: ViewT) -> ViewT:
            created = with_location(view, location) if location else view
            handler: Callable[..., Any] = self.response(status, returns)(created)
            for where, schema in (("json", body), ("query", query)):
                if schema is not None:
                    name = "body" if where == "json" else "query"
                    handler = self.arguments(
                        schema,
                        location=where,
                        arg_name=name,
                        as_kwargs=False,
                        required=_has_required_field(schema),
                    )(handler)
            # A limit fails closed: 503 while the backend of the counters is unavailable.
            limited = (TooManyRequests, Unavailable) if limit else ()
            refusals = _refusals(access, (*errors, *limited), takes_input=bool(body or query))
            sent = (*response_headers, *(("Location",) if location else ()))
            headers = {"request": tuple(request_headers), "response": sent}
            # Outermost: access is checked before the query or the body is parsed.
            handler = guarded(
                self.doc(**_operation(view, access, refusals, document or {}, headers))(handler), access
            )
            handler.__strongroom_access__ = access  # type: ignore[attr-defined]
            handler.__strongroom_limit__ = limit  # type: ignore[attr-defined]
            self.route(path, methods=[method])(handler)
            # The undecorated view, so that other code and tests can call it directly.
            return view

        return decorate


def _has_required_field(schema: type[Schema]) -> bool:
    return any(field.required for field in schema().fields.values())


def limit_of(view: Callable[..., Any]) -> str | None:
    """Return the key of ``[limits]`` that a view was registered with."""
    limit: str | None = getattr(view, "__strongroom_limit__", None)
    return limit


def _operation(
    view: Callable[..., Any],
    access: Access,
    refusals: Json,
    document: Mapping[str, Any],
    headers: Mapping[str, Sequence[str]],
) -> Json:
    """Return the OpenAPI operation of a view, without its schemas."""
    return {
        HEADERS_KEY: headers,
        "operationId": _camel_case(view.__name__),
        **document,
        "responses": {**refusals, **document.get("responses", {})},
        "security": _SECURITY[access],
    }


def _refusals(access: Access, errors: ErrorKinds, *, takes_input: bool) -> Json:
    """Return the OpenAPI error responses by status."""
    kinds = set(errors)
    if takes_input:
        kinds.add(ValidationFailed)
    if access in (Access.USER, Access.ADMIN):
        kinds |= {TokenRequired, TokenInvalid}
    ordered = sorted(kinds, key=lambda kind: (kind.status, kind.code))
    return {
        str(status): {
            "description": "; ".join(f"`{kind.code}`: {kind.message}" for kind in group),
            "content": {"application/json": {"schema": ErrorSchema}},
        }
        for status, group in groupby(ordered, key=lambda kind: kind.status)
    }


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
