"""What a deployer may set."""

from dataclasses import dataclass

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class OssOptions:
    """The keys of a section ``[storages.NAME]`` with ``backend = "oss"``."""

    bucket: str = option(help="The bucket that holds the objects; it must exist.")
    region: str = option(help="The region of the bucket, such as cn-hangzhou; signatures name it.")
    access_key_id: str = option(help="The id of the access key.")
    access_key_secret: str = option(secret=True, help="The secret of the access key.")
    security_token: str | None = option(
        None, secret=True, help="The security token, of a temporary access key only."
    )
    endpoint: str | None = option(
        None, help="The URL the server reaches OSS at; the region's public one if absent."
    )
    public_endpoint: str | None = option(
        None, help="The URL clients reach OSS at, for signed URLs; the endpoint if absent."
    )
    addressing: str = option(
        "virtual",
        choices=("virtual", "path"),
        help="Whether URLs carry the bucket in the host (virtual) or in the path (path).",
    )
    prefix: str = option("", help="The folder of the bucket to keep to, such as strongroom/files.")
    part_size: int = option(
        5 * 1024 * 1024,
        minimum=100 * 1024,
        maximum=5 * 1024**3,
        help="Bytes held in memory per upload: what is larger is sent in parts of this size.",
    )
    connect_timeout: float = option(
        3.0, minimum=0.1, help="Seconds after which an attempt to connect is given up."
    )
    timeout: float = option(
        20.0,
        minimum=0.1,
        help="Seconds of silence after which a request is given up, and no further attempt made.",
    )
    retries: int = option(
        2, minimum=0, maximum=10, help="How often a failed request is sent again, with back-off."
    )

    @property
    def key_prefix(self) -> str:
        """What every key in the bucket begins with: empty, or ending in one slash."""
        folder = self.prefix.strip("/")
        return f"{folder}/" if folder else ""
