"""HTTP connections with a time limit for stores that respond slowly or stall."""

from functools import cache
from typing import Any

from strongroom.plugin_api.http_timeouts import TimedResponse

SENT_BYTES = 64 * 1024


def use_timed_connections(client: Any) -> None:
    """Make a boto3 client abort slow responses and send bodies in pieces.

    botocore has no setting for its connection classes, but its HTTP session stores its connection
    pool classes in a mapping, as documented by urllib3.
    """
    session = client._endpoint.http_session  # noqa: SLF001  see above
    session._pool_classes_by_scheme.update(_pools())  # noqa: SLF001  likewise


@cache
def _pools() -> dict[str, type[Any]]:
    # Imported here because importing botocore is slow; only processes that use the store need it.
    from botocore import awsrequest  # type: ignore[import-untyped]  # it has no types

    class Timed:
        """Mixin for connection classes."""

        response_class = TimedResponse

        def send(self, data: Any) -> None:
            # The socket time-out applies to each send call, and sending a whole part may take longer.
            if not isinstance(data, (bytes, bytearray, memoryview)):
                super().send(data)  # type: ignore[misc]  # of the connection
                return
            view = memoryview(data)
            for start in range(0, max(len(view), 1), SENT_BYTES):
                super().send(view[start : start + SENT_BYTES])  # type: ignore[misc]  # likewise

    class TimedHTTPConnection(Timed, awsrequest.AWSHTTPConnection):  # type: ignore[misc]  # likewise
        pass

    class TimedHTTPSConnection(Timed, awsrequest.AWSHTTPSConnection):  # type: ignore[misc]  # likewise
        pass

    class TimedHTTPConnectionPool(awsrequest.AWSHTTPConnectionPool):  # type: ignore[misc]  # likewise
        ConnectionCls = TimedHTTPConnection

    class TimedHTTPSConnectionPool(awsrequest.AWSHTTPSConnectionPool):  # type: ignore[misc]  # likewise
        ConnectionCls = TimedHTTPSConnection

    return {"http": TimedHTTPConnectionPool, "https": TimedHTTPSConnectionPool}
