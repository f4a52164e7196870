"""A route of a plugin that could not be served is refused at the start, with the remedy."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

import pytest

from strongroom.plugin_api import web
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.plugin_api.web import Access
from strongroom.web.http.routing import Blueprint

HOST: Final = cast("HostAPI", None)


def done(**_: Any) -> dict[str, Any]:
    return {"success": True}


async def awaited(**_: Any) -> dict[str, Any]:
    return {"success": True}


def of_thing(thing_id: str) -> dict[str, Any]:
    return {"success": bool(thing_id)}


FAULTS: Final[Mapping[str, tuple[dict[str, Any], Callable[..., Any]]]] = {
    "returns is <DoneSchema(many=False)>; use a class": ({"returns": cast("Any", DoneSchema())}, done),
    "returns is <class 'dict'>; use a class": ({"returns": dict}, done),
    "body is <class 'dict'>; use a class": ({"body": dict}, done),
    "query is <class 'dict'>; use a class": ({"query": dict}, done),
    "limit is 'visits'; use a key of [limits], or": ({"limit": "visits"}, done),
    "sensitive is 'credentials'; use a member of": ({"sensitive": "credentials"}, done),
    "status is '201'; use a number from 200 to": ({"status": "201"}, done),
    "status is 99; use a number from 200 to": ({"status": 99}, done),
    "errors has <class 'ValueError'>; use an": ({"errors": (ValueError,)}, done),
    "request_headers is 'X-A'; use a tuple": ({"request_headers": "X-A"}, done),
    "request_headers has 'X-A', which the core does": ({"request_headers": ("X-A",)}, done),
    "response_headers has 'X-A', which the core does": ({"response_headers": ("X-A",)}, done),
    "awaited is a coroutine function; use def": ({}, awaited),
    "awaited is a coroutine function;": ({"limit": awaited}, done),
    "the view of_thing: missing a required argument: 'thing_id'": ({}, of_thing),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_route_that_cannot_be_served_is_refused_at_the_start(fault: str) -> None:
    options, view = FAULTS[fault]
    routes = web.Blueprint("things")
    routes.operation("POST", "/things", access=Access.PUBLIC, **options)(view)
    with pytest.raises(ValueError, match="POST /things: ") as caught:
        Blueprint.bound(routes, HOST, {}, {"public_per_address"})
    assert str(caught.value).removeprefix("POST /things: ").startswith(fault)


@pytest.mark.parametrize("access", [None, "ADMIN", "administrators"])
def test_a_route_needs_a_member_of_access(access: Any) -> None:
    with pytest.raises(TypeError, match="GET /things: state who may call the route"):
        web.Blueprint("things").operation("GET", "/things", access=access)


@pytest.mark.parametrize("method", ["get", "", "GET POST", "G3T"])
def test_a_method_is_in_capitals(method: str) -> None:
    with pytest.raises(TypeError, match="write the method in capitals, such as GET"):
        web.Blueprint("things").operation(method, "/things", access=Access.USER)


def test_a_hook_of_requests_that_nothing_awaits_is_refused() -> None:
    routes = web.Blueprint("things")
    routes.after_request(awaited)
    with pytest.raises(ValueError, match="awaited is a coroutine function"):
        Blueprint.bound(routes, HOST, {}, ())


def test_parameters_of_converters_and_of_revisions_are_known() -> None:
    def change_thing(thing_id: str, revision: int | None, body: dict[str, Any]) -> dict[str, Any]:
        return {"success": bool(thing_id and revision and body)}

    routes = web.Blueprint("things")
    path, access = "/things/<any(one, two):thing_id>", Access.USER
    routes.operation("PUT", path, access=access, body=DoneSchema, returns=DoneSchema)(change_thing)
    assert len(Blueprint.bound(routes, HOST, {}, ()).routes) == 1
