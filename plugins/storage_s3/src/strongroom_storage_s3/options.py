"""What a deployer may set."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from strongroom.plugin_api import option

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class S3Options:
    """The keys of a section ``[storages.NAME]`` with ``backend = "s3"``."""

    bucket: str = option(help="The bucket; it must exist.")
    prefix: str = option("", help="What the names of all objects in the bucket begin with, as a folder.")
    region: str | None = option(
        None, help="The region of the bucket; absent, what the environment or the AWS profile says."
    )
    endpoint_url: str | None = option(
        None, help="The URL of a store that is not AWS, as the server reaches it."
    )
    public_endpoint_url: str | None = option(
        None, help="The URL of the store as clients reach it, for signed URLs; absent, `endpoint_url`."
    )
    addressing_style: str = option(
        "auto",
        choices=("auto", "path", "virtual"),
        help="Where the bucket stands in URLs: in the path, in the host name, or as boto3 chooses.",
    )
    access_key_id: str | None = option(
        None, help="The access key; absent, boto3's usual chain finds credentials."
    )
    secret_access_key: str | None = option(
        None, secret=True, help="The secret that belongs to `access_key_id`."
    )
    session_token: str | None = option(
        None, secret=True, help="The session token of temporary credentials."
    )
    part_bytes: int = option(
        8 * MEBIBYTE,
        minimum=5 * MEBIBYTE,
        maximum=5 * 1024 * MEBIBYTE,
        help="The size in bytes above which an object is sent in parts, and of each part.",
    )
    parts_in_flight: int = option(
        2,
        minimum=1,
        maximum=64,
        help="The number of parts of one upload sent at a time; one more is held in memory.",
    )
    connect_timeout: float = option(
        3.0, minimum=0.1, help="The time in seconds within which a connection must be made."
    )
    read_timeout: float = option(
        30.0,
        minimum=0.1,
        help="The time in seconds for which the store may stay silent; then no further attempt is made.",
    )
    max_attempts: int = option(
        3, minimum=1, help="The number of times a request is sent before it has failed."
    )
    max_connections: int = option(
        64, minimum=1, help="The number of connections a process keeps open for reuse."
    )
    write_once: bool = option(
        True,
        help="Whether signed uploads carry `If-None-Match: *`, so that none replaces an object;"
        " for stores that do not know it, false.",
    )

    def __post_init__(self) -> None:
        for key in ("endpoint_url", "public_endpoint_url"):
            url = getattr(self, key)
            if url is not None and not _is_url(url):
                raise ValueError(f'{key}: must be a URL, such as "https://s3.example.com"')


def _is_url(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
