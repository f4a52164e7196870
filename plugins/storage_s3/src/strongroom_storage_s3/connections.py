"""Connections to a store that is slow, or has stopped in the middle."""

from functools import cache
from typing import Any

from strongroom.plugin_api.answers import TimedResponse

SENT_BYTES = 64 * 1024


def use_timed_connections(client: Any) -> None:
    """Make a boto3 client give up answers that trickle, and send bodies piece by piece.

    botocore has no setting for the class of its connections; its session of HTTP keeps those it uses
    in a mapping, as urllib3 documents it.
    """
    session = client._endpoint.http_session  # noqa: SLF001  see above
    session._pool_classes_by_scheme.update(_pools())  # noqa: SLF001  likewise


@cache
def _pools() -> dict[str, type[Any]]:
    # Importing botocore is slow and is wanted in processes that use the store only.
    from botocore import awsrequest  # type: ignore[import-untyped]  # it has no types

    class Timed:
        """Mixed into a connection."""

        response_class = TimedResponse

        def send(self, data: Any) -> None:
            # The time-out holds for what is sent at once, and a whole part may take longer.
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
