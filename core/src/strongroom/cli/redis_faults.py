"""Why Redis cannot be used: its URL is wrong, or it is unavailable now."""

from typing import TYPE_CHECKING, Final

from strongroom.cli.service_faults import ServiceFault

if TYPE_CHECKING:
    from strongroom.foundation.config.redis_urls import RedisAddress

_SECONDS: Final = 2
_CONSEQUENCE: Final = "and without it logins are refused"


def redis_fault(address: "RedisAddress") -> ServiceFault | None:
    """Return why Redis cannot count rate limits, or ``None`` if it can; writes nothing."""
    # Imported here, because it imports the client.
    from strongroom.foundation.limits.redis_clients import redis_servers
    from strongroom.foundation.limits.redis_faults import find_fault

    servers = redis_servers(address, _SECONDS)
    try:
        fault = find_fault(servers)
    finally:
        servers.close()
    if fault is None:
        return None
    return ServiceFault(f"{fault.message}, {_CONSEQUENCE}; {fault.remedy}", fault.is_temporary)
