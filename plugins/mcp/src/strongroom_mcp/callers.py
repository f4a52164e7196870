"""Who sends a request."""

from strongroom.plugin_api.authentication import CallerInfo, Scope
from strongroom.plugin_api.host import HostAPI


def find_caller(host: HostAPI) -> CallerInfo:
    """Return the caller of the request: the user of an access token or an access key, with its limits.

    This is the only place where a token becomes a caller.

    Raises:
        ApiError: with status 401 or 403.
    """
    host.authenticate(scope=Scope.FILES_READ)
    caller = host.caller
    assert caller is not None  # noqa: S101  authenticate() has set it
    return caller
