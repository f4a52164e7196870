"""Endpoints that record or fail."""

from tests.support.endpoints import dead_endpoint, full_endpoint, mute_endpoint, received

__all__ = ["dead_endpoint", "full_endpoint", "mute_endpoint", "received"]
