"""Deprecated since plugin API 1.1: the former name of :mod:`strongroom.plugin_api.http_timeouts`."""

import warnings

from strongroom.plugin_api.http_timeouts import LEAST_BYTES, TimedResponse

__all__ = ["LEAST_BYTES", "TimedResponse"]

warnings.warn(
    f"{__name__} is deprecated: import strongroom.plugin_api.http_timeouts",
    DeprecationWarning,
    stacklevel=2,
)
