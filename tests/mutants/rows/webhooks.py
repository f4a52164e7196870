"""Mutants: webhooks."""

from typing import Final

from tests.mutants.modules import webhooks

ROWS: Final = (
    webhooks(
        "webhooks-administrators",
        "Members of a tenant do not manage its webhooks.",
        "endpoints.py::Endpoints._require",
        "if self._host.users.me().type != _ADMIN:",
        "if False:",
        "webhooks/rest/test_webhooks.py::test_administrators_of_the_tenant_and_of_the_server_manage_its_endpoints",
    ),
    webhooks(
        "webhooks-owners",
        "Nothing is sent for an owner who no longer administers what the endpoint covers.",
        "sender.py::Sender._deliver",
        "if not self._owners.administer(claim.endpoint):",
        "if False:",
        "webhooks/rest/test_webhooks.py::test_webhooks_stop_when_their_owner_no_longer_administers_the_tenant",
    ),
    webhooks(
        "webhooks-streams",
        "An endpoint of a tenant replays no stream of another.",
        "endpoints.py::_stream",
        "requested not in (None, own, SERVER)",
        "False",
        "webhooks/rest/test_webhooks.py::test_an_endpoint_of_a_tenant_replays_no_stream_of_another",
    ),
    webhooks(
        "webhooks-tenants",
        "An endpoint of a tenant receives no events of another.",
        "queue.py::is_wanted",
        "is_of_scope = endpoint.tenant_id is None or endpoint.tenant_id == event.tenant_id",
        "is_of_scope = True",
        "webhooks/test_deliveries.py::test_an_endpoint_receives_what_it_wants",
    ),
    webhooks(
        "webhooks-claims",
        "A process that has lost its claim records nothing.",
        "queue.py::DeliveryQueue.conclude",
        "owned = and_(endpoints.c.id == claim.endpoint.id, endpoints.c.claimed_by == claim.token)",
        "owned = endpoints.c.id == claim.endpoint.id",
        "webhooks/test_deliveries.py::test_a_lost_claim_records_nothing",
    ),
    webhooks(
        "webhooks-repeats",
        "An event that the sink receives twice is sent once.",
        "queue.py::DeliveryQueue._append",
        "if event.id not in known",
        "if True",
        "webhooks/test_deliveries.py::test_events_arrive_in_order_and_once",
    ),
    webhooks(
        "webhooks-overlap",
        "A rotated secret does not sign after its overlap.",
        "sender.py::Sender._signature",
        "valid = [key for key in keys if key.valid_until is None or key.valid_until > now]",
        "valid = keys",
        "webhooks/rest/test_webhooks.py::test_a_rotated_secret_overlaps_with_the_former_one",
    ),
    webhooks(
        "webhooks-records",
        "What a caller does with an endpoint is recorded in the audit log.",
        "owners.py::Owners.record",
        'self._host.audit(f"endpoint-{action}", TARGET, endpoint.id, {**about, **details})',
        "",
        "webhooks/rest/test_webhooks.py::test_each_change_is_recorded_in_the_audit_log",
    ),
)
