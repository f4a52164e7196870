"""The routes below ``/api/v1/webhook-endpoints``."""

from dataclasses import asdict
from typing import Any

from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.schemas import DoneSchema, collection_schema
from strongroom.plugin_api.web import Access, Blueprint
from strongroom_webhooks.errors import (
    DISABLED,
    FORBIDDEN,
    OUTDATED,
    OWNERLESS,
    STREAM_REFUSED,
    TENANT_UNKNOWN,
    TOO_MANY,
    TYPES_UNKNOWN,
    UNKNOWN,
    URL_REFUSED,
)
from strongroom_webhooks.models import Delivery, Endpoint
from strongroom_webhooks.schemas import (
    DeliveriesQuery,
    DeliverySchema,
    EndpointChangesSchema,
    EndpointSchema,
    EndpointsQuery,
    NewEndpointSchema,
    NewEndpointWithSecretSchema,
    ReplayedSchema,
    ReplaySchema,
    SecretRotationSchema,
    SecretSchema,
)
from strongroom_webhooks.service import Webhooks

Json = dict[str, Any]

_ROOT = "/api/v1/webhook-endpoints"
_ONE = f"{_ROOT}/<endpoint_id>"


routes = Blueprint(
    "webhooks",
    description="Events for URLs of receivers.",
    parameters={
        "delivery_id": "Id of the delivery, as in the list of the endpoint's deliveries",
        "endpoint_id": "Id of the endpoint, as in the list of endpoints",
    },
)


@routes.operation(
    "POST",
    _ROOT,
    access=Access.USER,
    body=NewEndpointSchema,
    returns=NewEndpointWithSecretSchema,
    status=201,
    errors=(FORBIDDEN, URL_REFUSED, TYPES_UNKNOWN, TENANT_UNKNOWN, TOO_MANY),
)
def create_webhook_endpoint(body: Json) -> Any:
    """Create an endpoint of a tenant, or of the server; the answer alone has its secret.

    Administrators of a tenant create endpoints for its events, administrators of the server for
    events of any tenant or all.
    """
    endpoint, keys = get_service(Webhooks).endpoints.create(body)
    shown = {"secret": keys.shown_secret, "publicKey": keys.shown_public_key}
    url = f"{current_host().public_url}{_ROOT}/{endpoint.id}"
    return asdict(endpoint) | shown, 201, {"Location": url}


@routes.operation(
    "GET",
    _ROOT,
    access=Access.USER,
    query=EndpointsQuery,
    returns=collection_schema(EndpointSchema),
    errors=(FORBIDDEN,),
)
def list_webhook_endpoints(query: Json) -> Any:
    """List endpoints, the oldest first; `tenantId` is optional for administrators only.

    For administrators of the tenant, and of the server. Secrets are not included.
    """
    page = get_service(Webhooks).endpoints.list(query)
    return current_host().lists.collection(page, query)


@routes.operation("GET", _ONE, access=Access.USER, returns=EndpointSchema, errors=(UNKNOWN,))
def get_webhook_endpoint(endpoint_id: str) -> Endpoint:
    """Get an endpoint.

    For administrators of the endpoint's tenant, and of the server. Its secret is not included; a
    lost one is replaced by `rotateWebhookSecret`.
    """
    return get_service(Webhooks).endpoints.get(endpoint_id)


@routes.operation(
    "PATCH",
    _ONE,
    access=Access.USER,
    body=EndpointChangesSchema,
    returns=EndpointSchema,
    errors=(UNKNOWN, URL_REFUSED, TYPES_UNKNOWN, OUTDATED, OWNERLESS),
)
def update_webhook_endpoint(endpoint_id: str, body: Json, revision: int | None) -> Endpoint:
    """Change an endpoint, or enable and disable it.

    For administrators of the endpoint's tenant, and of the server. `enabled` also sends waiting
    deliveries at once, and requires that the owner still administers the events; another
    administrator takes the endpoint over first.
    """
    return get_service(Webhooks).endpoints.update(endpoint_id, body, revision)


@routes.operation("DELETE", _ONE, access=Access.USER, returns=DoneSchema, errors=(UNKNOWN, OUTDATED))
def delete_webhook_endpoint(endpoint_id: str, revision: int | None) -> Json:
    """Delete an endpoint and its deliveries, those not yet sent included.

    For administrators of the endpoint's tenant, and of the server. It cannot be undone; `status`
    disables an endpoint for a time.
    """
    get_service(Webhooks).endpoints.delete(endpoint_id, revision)
    return {"success": True}


@routes.operation(
    "POST",
    f"{_ONE}/rotate-secret",
    access=Access.USER,
    body=SecretRotationSchema,
    returns=SecretSchema,
    errors=(UNKNOWN,),
)
def rotate_webhook_secret(endpoint_id: str, body: Json) -> Json:
    """Create a new secret and key pair.

    During the overlap, messages have the signatures of the former secret as well.
    """
    keys = get_service(Webhooks).endpoints.rotate(endpoint_id, body["overlapSeconds"])
    return {"secret": keys.shown_secret, "publicKey": keys.shown_public_key}


@routes.operation(
    "POST",
    f"{_ONE}/take-over",
    access=Access.USER,
    returns=EndpointSchema,
    errors=(UNKNOWN, OUTDATED),
)
def take_over_webhook_endpoint(endpoint_id: str, revision: int | None) -> Endpoint:
    """Become the owner of an endpoint, whose events stop when its owner no longer administers them.

    An endpoint that was disabled stays so: check its URL, rotate its secret, and enable it.
    """
    return get_service(Webhooks).endpoints.take_over(endpoint_id, revision)


@routes.operation(
    "POST",
    f"{_ONE}/test",
    access=Access.USER,
    returns=DeliverySchema,
    status=202,
    errors=(UNKNOWN, DISABLED),
)
def test_webhook_endpoint(endpoint_id: str) -> Delivery:
    """Send a message of the type `webhook.test`, once and before all others.

    For administrators of the endpoint's tenant, and of the server. The result is not in the
    response; see the list of deliveries. A disabled endpoint is refused.
    """
    webhooks = get_service(Webhooks)
    delivery = webhooks.endpoints.test(endpoint_id)
    webhooks.wake()
    return delivery


@routes.operation(
    "POST",
    f"{_ONE}/replay",
    access=Access.USER,
    body=ReplaySchema,
    returns=ReplayedSchema,
    status=202,
    errors=(UNKNOWN, DISABLED, STREAM_REFUSED),
)
def replay_webhook_events(endpoint_id: str, body: Json) -> Json:
    """Send the events from a sequence on again, in their order and with their ids.

    For administrators of the endpoint's tenant, and of the server. At most 1,000 events are read at
    a time: continue at `nextSequence` until it is null. A disabled endpoint is refused.
    """
    webhooks = get_service(Webhooks)
    replayed = webhooks.endpoints.replay(endpoint_id, body)
    webhooks.wake()
    return replayed


@routes.operation(
    "GET",
    f"{_ONE}/deliveries",
    access=Access.USER,
    query=DeliveriesQuery,
    returns=collection_schema(DeliverySchema),
    errors=(UNKNOWN,),
)
def list_webhook_deliveries(endpoint_id: str, query: Json) -> Any:
    """List the deliveries of an endpoint, the newest first, with the last attempt of each.

    For administrators of the endpoint's tenant, and of the server. Deliveries that have ended are
    deleted after a time that the server's configuration sets.
    """
    page = get_service(Webhooks).endpoints.deliveries(endpoint_id, query)
    return current_host().lists.collection(page, query)


@routes.operation(
    "POST",
    f"{_ONE}/deliveries/<delivery_id>/redeliver",
    access=Access.USER,
    returns=DeliverySchema,
    status=202,
    errors=(UNKNOWN, DISABLED),
)
def redeliver_webhook(endpoint_id: str, delivery_id: str) -> Delivery:
    """Send a delivery again, before all others; its `webhook-id` stays the same.

    For administrators of the endpoint's tenant, and of the server. Receivers recognize a repetition
    by this id. A disabled endpoint is refused.
    """
    webhooks = get_service(Webhooks)
    delivery = webhooks.endpoints.redeliver(endpoint_id, delivery_id)
    webhooks.wake()
    return delivery
