"""Configuration options."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class OssOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "oss"``."""

    bucket: str = option(help="The bucket for the objects; it must exist.")
    region: str = option(help="The region of the bucket, such as cn-hangzhou; part of signatures.")
    access_key_id: str = option(help="The id of the access key.")
    access_key_secret: str = option(secret=True, help="The secret of the access key.")
    security_token: str | None = option(
        None, secret=True, help="The security token, only for temporary access keys."
    )
    endpoint: str | None = option(
        None, help="The URL at which the server reaches OSS; default: the region's public one."
    )
    public_endpoint: str | None = option(
        None, help="The URL at which clients reach OSS, for signed URLs; default: `endpoint`."
    )
    addressing: str = option(
        "virtual",
        choices=("virtual", "path"),
        help="Position of the bucket in URLs: in the host name (virtual) or in the path (path).",
    )
    prefix: str = option("", help="The folder of the bucket to use, such as strongroom/files.")
    part_size: int = option(
        5 * 1024 * 1024,
        minimum=100 * 1024,
        maximum=5 * 1024**3,
        help="Part size in bytes, held in memory per upload; larger objects are sent in parts.",
    )
    connect_timeout: float = option(3.0, minimum=0.1, help="Connection timeout in seconds.")
    timeout: float = option(
        20.0,
        minimum=0.1,
        help="Read timeout in seconds; a request that times out is not retried.",
    )
    retries: int = option(
        2, minimum=0, maximum=10, help="Number of retries of a failed request, with back-off."
    )

    @property
    def key_prefix(self) -> str:
        """The prefix of every key in the bucket: empty, or ending in one slash."""
        folder = self.prefix.strip("/")
        return f"{folder}/" if folder else ""
