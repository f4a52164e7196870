"""Routes for liveness and readiness."""

from typing import Any

from marshmallow import Schema, fields

from strongroom.extensions.observability.readiness import Readiness
from strongroom.foundation.errors import Detail, Unavailable
from strongroom.foundation.processes import STARTS
from strongroom.web.http.access import Access
from strongroom.web.http.middleware import DRAINING
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint


class AliveSchema(Schema):
    """The process is alive."""

    status = fields.Constant(
        "alive", required=True, metadata={"type": "string", "description": "Always `alive`"}
    )


class ReadySchema(Schema):
    """The instance has no fault of its own."""

    status = fields.Constant(
        "ready",
        required=True,
        metadata={
            "type": "string",
            "description": "Always `ready`; an instance with a fault responds with 503",
        },
    )
    parts = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The parts that were checked, such as `database`"},
    )
    notes = fields.Dict(
        fields.String(),
        fields.String(),
        metadata={"description": "By part: faults that all instances share, and remarks"},
    )


blueprint = Blueprint("health", description="Liveness and readiness of the server.")

_RETRY_SECONDS = 1


@blueprint.operation("GET", "/livez", access=Access.PUBLIC, returns=AliveSchema)
def get_liveness() -> dict[str, Any]:
    """Report that the process is alive. If there is no response, restart the process.

    It checks nothing else: see `/readyz` for whether the instance can serve requests.
    """
    return {}


@blueprint.operation("GET", "/readyz", access=Access.PUBLIC, returns=ReadySchema, errors=(Unavailable,))
def get_readiness() -> dict[str, Any]:
    """Report whether this instance can serve requests; load balancers send requests only then.

    503 only for faults of this instance: it starts (code ``starting``), it drains (``draining``), its
    disk, or a schema that it cannot serve. The details of the error name them. ``notes`` are faults of
    parts that all instances share, such as the database, the limits or a remote storage, and remarks,
    such as a newer schema that is compatible. Requests that need a part with a fault are refused; all
    others are served. No text contains secrets.
    """
    if DRAINING.is_set:
        details = [Detail("server", "draining", "The server is shutting down.")]
        raise Unavailable(details=details, retry_after=_RETRY_SECONDS)
    if not STARTS.are_complete:
        details = [Detail("server", "starting", "The server is starting.")]
        raise Unavailable(details=details, retry_after=_RETRY_SECONDS)
    report = get_service(Readiness).report()
    if not report.is_ready:
        details = [Detail(name, "away", fault) for name, fault in report.faults.items()]
        raise Unavailable(details=details, retry_after=_RETRY_SECONDS)
    notes = {"notes": dict(report.notes)} if report.notes else {}
    return {"parts": list(report.parts), **notes}
