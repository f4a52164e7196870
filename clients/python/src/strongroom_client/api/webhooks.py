"""Operations on webhooks. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Delivery,
    DeliveryCollection,
    Done,
    Endpoint,
    EndpointChanges,
    EndpointCollection,
    ListWebhookDeliveriesOutcome,
    NewEndpoint,
    NewEndpointWithSecret,
    Replay,
    Replayed,
    Secret,
    SecretRotation,
)
from ..operations import UNSET, Operation, Unset, segment


def create_webhook_endpoint(
    *,
    body: NewEndpoint,
    idempotency_key: str | Unset = UNSET,
) -> Operation[NewEndpointWithSecret]:
    """Create an endpoint of a tenant, or of the server; the answer alone has its secret.

    Administrators of a tenant create endpoints for its events, administrators of the server for
    events of any tenant or all.
    """
    return Operation(
        "POST",
        "/api/v1/webhook-endpoints",
        NewEndpointWithSecret,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_webhook_endpoint(
    endpoint_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete an endpoint and its deliveries, those not yet sent included.

    For administrators of the endpoint's tenant, and of the server. It cannot be undone; `status`
    disables an endpoint for a time.
    """
    return Operation(
        "DELETE",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}",
        Done,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_webhook_endpoint(
    endpoint_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Endpoint]:
    """Get an endpoint.

    For administrators of the endpoint's tenant, and of the server. Its secret is not included; a
    lost one is replaced by `rotateWebhookSecret`.
    """
    return Operation(
        "GET",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}",
        Endpoint,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def list_webhook_deliveries(
    endpoint_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    outcome: ListWebhookDeliveriesOutcome | Unset = UNSET,
) -> Operation[DeliveryCollection]:
    """List the deliveries of an endpoint, the newest first, with the last attempt of each.

    For administrators of the endpoint's tenant, and of the server. Deliveries that have ended are
    deleted after a time that the server's configuration sets.
    """
    return Operation(
        "GET",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}/deliveries",
        DeliveryCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "outcome": outcome,
        },
    )


def list_webhook_endpoints(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    tenant_id: str | Unset = UNSET,
) -> Operation[EndpointCollection]:
    """List endpoints, the oldest first; `tenantId` is optional for administrators only.

    For administrators of the tenant, and of the server. Secrets are not included.
    """
    return Operation(
        "GET",
        "/api/v1/webhook-endpoints",
        EndpointCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "tenantId": tenant_id,
        },
    )


def redeliver_webhook(
    endpoint_id: str,
    delivery_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Delivery]:
    """Send a delivery again, before all others; its `webhook-id` stays the same.

    For administrators of the endpoint's tenant, and of the server. Receivers recognize a repetition
    by this id. A disabled endpoint is refused.
    """
    return Operation(
        "POST",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}/deliveries/{segment(delivery_id)}/redeliver",
        Delivery,
        headers={
            "Idempotency-Key": idempotency_key,
        },
    )


def replay_webhook_events(
    endpoint_id: str,
    *,
    body: Replay,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Replayed]:
    """Send the events from a sequence on again, in their order and with their ids.

    For administrators of the endpoint's tenant, and of the server. At most 1,000 events are read at
    a time: continue at `nextSequence` until it is null. A disabled endpoint is refused.
    """
    return Operation(
        "POST",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}/replay",
        Replayed,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def rotate_webhook_secret(
    endpoint_id: str,
    *,
    body: SecretRotation | Unset = UNSET,
) -> Operation[Secret]:
    """Create a new secret and key pair.

    During the overlap, messages have the signatures of the former secret as well.
    """
    return Operation(
        "POST",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}/rotate-secret",
        Secret,
        body=body,
    )


def take_over_webhook_endpoint(
    endpoint_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Endpoint]:
    """Become the owner of an endpoint, whose events stop when its owner no longer administers them.

    An endpoint that was disabled stays so: check its URL, rotate its secret, and enable it.
    """
    return Operation(
        "POST",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}/take-over",
        Endpoint,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def test_webhook_endpoint(
    endpoint_id: str,
    *,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Delivery]:
    """Send a message of the type `webhook.test`, once and before all others.

    For administrators of the endpoint's tenant, and of the server. The result is not in the
    response; see the list of deliveries. A disabled endpoint is refused.
    """
    return Operation(
        "POST",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}/test",
        Delivery,
        headers={
            "Idempotency-Key": idempotency_key,
        },
    )


def update_webhook_endpoint(
    endpoint_id: str,
    *,
    body: EndpointChanges,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Endpoint]:
    """Change an endpoint, or enable and disable it.

    For administrators of the endpoint's tenant, and of the server. `enabled` also sends waiting
    deliveries at once, and requires that the owner still administers the events; another
    administrator takes the endpoint over first.
    """
    return Operation(
        "PATCH",
        f"/api/v1/webhook-endpoints/{segment(endpoint_id)}",
        Endpoint,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
