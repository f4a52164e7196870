"""Operations on user exports. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..operations import Operation


def export_users() -> Operation[bytes]:
    """Export all users but administrators and services: JSON lines, as an import accepts them.

    The lines have neither passwords nor second factors. The audit log records the export.
    """
    return Operation(
        "GET",
        "/user-exports",
        bytes,
    )
