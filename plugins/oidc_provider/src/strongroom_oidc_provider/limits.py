"""The limit of requests without a token."""

from strongroom.plugin_api.request import current_host


def count() -> None:
    """Count a request of an address."""
    host = current_host()
    host.limits.check_rate("requests", host.options.requests_per_address)
