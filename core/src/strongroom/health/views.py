"""Whether the server lives, and whether it can do its work: for balancers and supervisors."""

from typing import Any

from strongroom.errors import Detail, Unavailable
from strongroom.health.draining import DRAINING
from strongroom.health.readiness import Readiness
from strongroom.health.schemas import AliveSchema, ReadySchema
from strongroom.web.blueprint import Blueprint
from strongroom.web.components import use
from strongroom.web.guard import Access

blueprint = Blueprint("health", __name__, description="Whether the server can do its work.")

_RETRY_SECONDS = 1


@blueprint.operation("GET", "/livez", access=Access.PUBLIC, returns=AliveSchema)
def get_liveness() -> dict[str, Any]:
    """Answer, if only this process lives; restart it if it does not."""
    return {}


@blueprint.operation("GET", "/readyz", access=Access.PUBLIC, returns=ReadySchema, errors=(Unavailable,))
def get_readiness() -> dict[str, Any]:
    """Report whether every part answers: the database, its schema, the limits and each storage.

    Otherwise the error's details name the parts that are away. Nothing in them is secret. ``notes``
    are remarks about parts that work, such as a newer schema that this version may serve. A server
    that is being drained names itself: ``draining``.
    """
    if DRAINING.is_set:
        details = [Detail("server", "draining", "It is being taken out of service.")]
        raise Unavailable(details=details, retry_after=_RETRY_SECONDS)
    report = use(Readiness).report()
    if not report.is_ready:
        details = [Detail(name, "away", fault) for name, fault in report.parts.items() if fault]
        raise Unavailable(details=details, retry_after=_RETRY_SECONDS)
    notes = {"notes": dict(report.notes)} if report.notes else {}
    return {"parts": list(report.parts), **notes}
