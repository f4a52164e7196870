"""The keys of ``[advanced]``: limits of resources that few servers change; the template omits them."""

from dataclasses import dataclass
from functools import partial
from typing import Final

from strongroom.plugin_api import option

_MEBIBYTE: Final = 1024 * 1024

_advanced = partial(option, advanced=True)


@dataclass(frozen=True, slots=True)
class AdvancedSettings:
    """Limits of resources that few servers change; `config template` omits them."""

    transfer_grace_seconds: float = _advanced(
        10.0,
        minimum=0.1,
        maximum=600,
        help="Seconds for which a client may pause while it sends a request or reads a response.",
    )
    min_transfer_rate: int = _advanced(
        1024,
        minimum=1,
        help="Bytes per second that a client must send or read beyond the grace period; slower clients "
        "are disconnected.",
    )
    max_concurrent_hashes: int = _advanced(
        0,
        minimum=0,
        maximum=64,
        help="Password hashes that a process computes concurrently for logins, and as many for new "
        "passwords; 0: one per two cores.",
    )
    hash_queue: int = _advanced(
        64,
        minimum=0,
        maximum=1000,
        help="The maximum number of requests of a worker that wait for a hash, for logins and for new "
        "passwords each, and of logins that wait for others of the same name or address; further "
        "requests get 503 immediately. They wait in threads of their own.",
    )
    captcha_lifetime_seconds: int = _advanced(
        300, minimum=10, maximum=3600, help="The lifetime of a captcha in seconds."
    )
    max_concurrent_images: int = _advanced(
        0,
        minimum=0,
        maximum=64,
        help="Images that a process decodes concurrently; 0: one per core, at least two.",
    )
    picture_memory_bytes: int = _advanced(
        256 * _MEBIBYTE,
        minimum=32 * _MEBIBYTE,
        help="The maximum memory in bytes for decoding and encoding one image; an image that needs more "
        "is refused.",
    )
    picture_seconds: int = _advanced(
        5,
        minimum=1,
        maximum=300,
        help="The maximum time in seconds for decoding and encoding one image; an image that needs more "
        "is refused.",
    )
    bundle_lifetime_seconds: int = _advanced(
        86_400,
        minimum=60,
        maximum=2_592_000,
        help="Seconds for which an interrupted bundle download can be resumed by its URL.",
    )
    upload_lifetime_seconds: int = _advanced(
        86_400,
        minimum=60,
        maximum=31_536_000,
        help="Seconds after which a resumable upload without progress is deleted.",
    )
    open_direct_uploads_per_user: int = _advanced(
        100,
        minimum=1,
        maximum=100_000,
        help="The maximum number of incomplete direct uploads per user; each reserves its size.",
    )
    scan_inline_max_bytes: int = _advanced(
        _MEBIBYTE,
        minimum=0,
        maximum=64 * _MEBIBYTE,
        help="The maximum size in bytes of files that are scanned before the upload is answered, in "
        "memory; larger files are held back until they are scanned.",
    )
    scan_threads: int = _advanced(
        2,
        minimum=1,
        maximum=64,
        help="The number of held-back files that a process scans concurrently.",
    )
    waiting_per_process: int = _advanced(
        8,
        minimum=0,
        maximum=512,
        help="Requests of a worker that wait for changes of files, in threads of their own; at most "
        "half are of one user. Others get 503.",
    )
    max_groups: int = _advanced(
        1000, minimum=0, maximum=100_000, help="The maximum number of groups of a tenant."
    )
    max_groups_per_user: int = _advanced(
        100, minimum=0, maximum=10_000, help="The maximum number of groups of a user in a tenant."
    )
    max_invitations: int = _advanced(
        1000, minimum=0, maximum=100_000, help="The maximum number of open invitations of a tenant."
    )
