"""The boto3 client, the only object of this package without types.

boto3 is imported where it is called, not above: it takes most of a second, also of those processes
that never use the store.
"""

from collections.abc import Mapping
from threading import Lock
from typing import Any

from strongroom_storage_s3.connections import use_timed_connections
from strongroom_storage_s3.errors import translated_errors
from strongroom_storage_s3.options import MEBIBYTE, S3Options

COPIED_PART_BYTES = 64 * MEBIBYTE


class LazyClient:
    """Gives the one boto3 client of this process, which all its threads may use at once.

    It is made when it is first asked for: connections must not be shared with the processes that a
    server forks after it has read its configuration.

    Args:
        options: where the store is and how to treat it.
        endpoint_url: the store's URL; ``None`` is AWS.
    """

    def __init__(self, options: S3Options, endpoint_url: str | None) -> None:
        self._options = options
        self._endpoint_url = endpoint_url
        self._lock = Lock()
        self._client: Any = None

    def get(self) -> Any:
        """Return the client.

        Raises:
            StorageError: the options or the credentials do not make a client.
        """
        with self._lock:
            if self._client is None:
                with translated_errors():
                    self._client = _make_client(self._options, self._endpoint_url)
            return self._client

    def close(self) -> None:
        """Close its connections; the next :meth:`get` makes another client."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None


def _make_client(options: S3Options, endpoint_url: str | None) -> Any:
    from boto3.session import Session  # type: ignore[import-untyped]  # it has no types
    from botocore.config import Config  # type: ignore[import-untyped]  # likewise

    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": options.addressing_style},
        connect_timeout=options.connect_timeout,
        read_timeout=options.read_timeout,
        retries={"mode": "standard", "total_max_attempts": options.max_attempts},
        max_pool_connections=options.max_connections,
        # The newer default frames bodies in a way that stores other than AWS refuse.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    client = Session(region_name=options.region).client(
        "s3",
        endpoint_url=endpoint_url,
        config=config,
        # Half of a pair is refused here; given to the session, it would sign.
        aws_access_key_id=options.access_key_id,
        aws_secret_access_key=options.secret_access_key,
        aws_session_token=options.session_token,
    )
    # First of all, before botocore decides whether to try again.
    client.meta.events.register_first("needs-retry.s3", _give_up_silence)
    use_timed_connections(client)
    return client


def _give_up_silence(caught_exception: Exception | None = None, **_: Any) -> None:
    """Let a time-out be the end: whoever waits has waited that long already."""
    from botocore import exceptions  # type: ignore[import-untyped]  # it has no types

    if isinstance(caught_exception, (exceptions.ReadTimeoutError, exceptions.ConnectTimeoutError)):
        raise caught_exception


def copy_in_parts(client: Any, source: Mapping[str, str], target: Mapping[str, str]) -> None:
    """Copy an object that is too large for one request; both ends are ``Bucket`` and ``Key``."""
    from boto3.s3.transfer import TransferConfig  # type: ignore[import-untyped]  # it has no types

    in_parts = TransferConfig(multipart_threshold=1, multipart_chunksize=COPIED_PART_BYTES)
    client.copy(source, **target, Config=in_parts)
