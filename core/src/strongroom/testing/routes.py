"""Contract tests for routes of plugins, on a live server."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest

from strongroom.testing.server import LiveServer, LiveUser

ODD_IDS = ("0", "me", "..", "%00", "%FF", "%22", "a" * 300, "%E6%96%87")
"""Values of path parameters in hostile requests."""

ODD_BODIES = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b'{"a": "\\u0000"}',
    b'{"a": "\\ud800"}',
    b"\xff",
    b"[" * 10_000,
    b'{"a": ' + b"9" * 5_000 + b"}",
)

_METHODS = ("get", "put", "post", "delete", "patch")
_CREATED = 201
_ERRORS = 400
_SERVER_ERROR = 500
_UNAUTHORIZED = 401


@dataclass(frozen=True)
class DescribedRoute:
    """A route as the OpenAPI document describes it."""

    method: str
    path: str
    described: dict[str, Any]

    @property
    def needs_caller(self) -> bool:
        """Whether each request needs a caller."""
        security = self.described.get("security", [])
        return bool(security) and {} not in security

    def matches(self, path: str) -> bool:
        """Return whether the route has a path."""
        return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", self.path), path) is not None

    def paths(self) -> Iterator[str]:
        """Yield the path with odd values of its parameters."""
        for value in ODD_IDS if "{" in self.path else ("",):
            yield re.sub(r"\{\w+\}", value.replace("\\", ""), self.path)


class RoutesContract:
    """The contract of routes. Provide the fixture ``tag``, and ``creations`` for routes with 201.

    The module of the test class has a fixture ``server`` with the scope ``module``: a
    :class:`~strongroom.testing.server.LiveServer` that has the plugin enabled.
    """

    @pytest.fixture
    def tag(self) -> str:
        """The name of the plugin's blueprint, which is the tag of its routes in OpenAPI."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def creations(self) -> Sequence[tuple[str, Any]]:
        """The paths of POST requests that create a resource, each with its JSON body.

        The caller is a new user. By default, none is sent.
        """
        return ()

    @pytest.fixture
    def routes(self, server: LiveServer, tag: str) -> list[DescribedRoute]:
        document = server.succeed("GET", "/openapi.json")
        return [
            DescribedRoute(method, path, item[method])
            for path, item in document["paths"].items()
            for method in _METHODS
            if method in item and tag in item[method].get("tags", ())
        ]

    @pytest.fixture(scope="class")
    @classmethod
    def user(cls, server: LiveServer) -> LiveUser:
        return server.user()

    def test_each_route_is_described(self, routes: list[DescribedRoute]) -> None:
        assert routes
        for route in routes:
            assert route.described.get("summary") or route.described.get("description"), route.path

    def test_a_route_refuses_requests_without_its_caller(
        self, server: LiveServer, routes: list[DescribedRoute]
    ) -> None:
        for route in [route for route in routes if route.needs_caller]:
            for headers in ({}, {"Authorization": "Bearer wrong"}):
                reply = server.request(route.method.upper(), next(route.paths()), headers=headers)
                assert reply.status == _UNAUTHORIZED, (route.path, reply.text)

    def test_the_location_of_a_created_resource_is_a_route(
        self,
        server: LiveServer,
        routes: list[DescribedRoute],
        user: LiveUser,
        creations: Sequence[tuple[str, Any]],
    ) -> None:
        for path, body in creations:
            created = server.request("POST", path, by=user, json_body=body)
            assert created.status == _CREATED, (path, created.text)
            location = urlsplit(created.headers["location"]).path
            methods = {route.method for route in routes if route.matches(location)}
            assert methods, f"POST {path}: the Location {location} is no route of the plugin"
            if "get" in methods:
                resource = server.request("GET", location, by=user)
                assert resource.status < _ERRORS, (path, location, resource.text)

    def test_no_request_is_an_error_of_the_server(
        self, server: LiveServer, routes: list[DescribedRoute], user: LiveUser
    ) -> None:
        json_type = {"Content-Type": "application/json"}
        for route in routes:
            method = route.method.upper()
            bodies = ODD_BODIES if "requestBody" in route.described else (None,)
            for path in route.paths():
                for body in bodies:
                    for query in ("", "?pageSize=x&a=%00"):
                        reply = server.request(
                            method, path + query, by=user, body=body, headers=json_type
                        )
                        assert reply.status != _SERVER_ERROR, (route.path, body, reply.text)
