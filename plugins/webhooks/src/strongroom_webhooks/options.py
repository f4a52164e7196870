"""Configuration options."""

from dataclasses import dataclass
from itertools import pairwise

from strongroom.plugin_api import option
from strongroom.plugin_api.outbound import OutboundPolicy


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """The keys of the section ``[plugins.webhooks]``."""

    enabled: bool = option(
        True,
        help="Whether this server sends deliveries. Events are queued either way, for other servers.",
    )
    timeout_seconds: float = option(
        10.0,
        minimum=0.1,
        maximum=60,
        help="Time limit of one attempt in seconds: resolving, connecting and the whole response.",
    )
    schedule_seconds: tuple[int, ...] = option(
        (0, 5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400),
        help="The pause before each attempt in seconds, with jitter; its length is the attempts.",
    )
    concurrency: int = option(
        8, minimum=1, maximum=256, help="Endpoints that one process sends to at the same time."
    )
    allow_hosts: tuple[str, ...] = option(
        (),
        help='Private hosts that may be called, by name and port, such as "hooks.internal:8443".',
    )
    allow_http: bool = option(
        False,
        help="Whether unencrypted URLs are allowed; production refuses it.",
        development_only=True,
    )
    disable_after_hours: int = option(
        120, minimum=1, help="Hours of failures after which an endpoint is disabled."
    )
    endpoints_per_tenant: int = option(
        50, minimum=1, help="Endpoints that a tenant may have; the limit also holds for the server."
    )
    retention_days: int = option(30, minimum=1, help="Days after which finished deliveries are deleted.")

    def __post_init__(self) -> None:
        if not self.schedule_seconds or min(self.schedule_seconds) < 0:
            raise ValueError("schedule_seconds: must have pauses of at least 0 seconds")
        if any(first > second for first, second in pairwise(self.schedule_seconds)):
            raise ValueError("schedule_seconds: each pause must be at least as long as the one before")
        self.policy()

    def policy(self) -> OutboundPolicy:
        """Return the URLs that may be called.

        Raises:
            ValueError: an entry of ``allow_hosts`` is invalid.
        """
        return OutboundPolicy(self.allow_hosts, self.allow_http, self.timeout_seconds)
