"""Configuration options."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class McpOptions:
    """The keys of the section ``[plugins.mcp]``."""

    max_calls_per_minute: int = option(
        120,
        minimum=1,
        maximum=100_000,
        help="Requests per minute of an access key, of a client that a user has allowed, or of a user.",
    )
    origins: tuple[str, ...] = option(
        (),
        help='Origins of other pages whose scripts may send requests, such as "https://agent.example".',
    )

    def __post_init__(self) -> None:
        for origin in self.origins:
            parts = urlsplit(origin)
            if origin != f"{parts.scheme}://{parts.netloc}" or parts.scheme not in ("http", "https"):
                raise ValueError(f'origins: must be like "https://agent.example", not "{origin}"')
