"""The keys of storages, tenants, files and business files."""

import re
from dataclasses import dataclass
from typing import Final

from strongroom.plugin_api import option

_GIBIBYTE = 1024**3


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """A named storage; the other keys of its table are the options of the backend."""

    backend: str = option(help="The name of a registered storage backend, such as local or s3.")
    over: str | None = option(
        None, help="The name of the storage that a wrapper, such as encrypted, stores its objects in."
    )
    downloads: str = option(
        "server",
        choices=("server", "redirect", "x_accel"),
        help="How files are delivered: by the server, by a redirect to a signed URL of the store, or by "
        "nginx with X-Accel-Redirect.",
    )
    x_accel_location: str = option(
        "/_strongroom",
        help="The prefix of nginx's internal locations, before the path of the file.",
        advanced=True,
    )
    direct_uploads: bool = option(
        False, help="Whether clients may upload files directly to the store, by presigned requests."
    )
    signed_url_seconds: int = option(
        300,
        minimum=10,
        maximum=12 * 3600,
        help="The lifetime in seconds of presigned URLs, for redirects and direct uploads.",
        advanced=True,
    )


@dataclass(frozen=True, slots=True)
class KeysSettings:
    """The master keys of encrypted storages; the other keys are the options of the provider."""

    provider: str = option("file", help="The name of a registered key provider.")


AT_ONCE: Final = "at-once"
INVITED: Final = "invited"


@dataclass(frozen=True, slots=True)
class TenantsSettings:
    """The creation and deletion of tenants."""

    purge_after_days: int = option(
        30,
        minimum=0,
        maximum=3650,
        help="Days for which a deleted tenant can be restored, before `prune` purges it.",
    )
    allow_user_creation: bool = option(
        True, help="Whether any user may create tenants; otherwise only administrators may."
    )
    invitation_days: int = option(
        7, minimum=1, maximum=90, help="Days for which an invitation can be accepted."
    )
    add_members: str = option(
        AT_ONCE,
        choices=(AT_ONCE, INVITED),
        help="How administrators of a tenant add users: at-once by their ids, or invited, so that each "
        "user consents, and no answer reveals which ids exist. Administrators of the server always add "
        "users at once.",
    )
    add_known_invitees: bool = option(
        False,
        help="Whether inviting a contact of an existing user makes the user a member at once. Otherwise "
        "the user accepts the invitation, so that inviting does not reveal who is registered.",
        advanced=True,
    )


@dataclass(frozen=True, slots=True)
class EventsSettings:
    """Events: how long they are kept, and requests that wait for them."""

    retention_days: int = option(
        30,
        minimum=1,
        maximum=3650,
        help="Days for which changes of files can be read and replayed at least. They are kept longer "
        "if files.events_kept_days is longer; other events are kept for audit.retention_days.",
    )


@dataclass(frozen=True, slots=True)
class TrashSettings:
    """The trash of tenants."""

    enabled: bool = option(
        True,
        help="Whether deleted files and folders go to the trash; otherwise their deletion is final.",
    )
    days: int = option(
        30,
        minimum=0,
        maximum=3650,
        help="Days after which `prune` removes files and folders from the trash.",
    )


@dataclass(frozen=True, slots=True)
class VersionsSettings:
    """Earlier contents of tenants' files."""

    keep: int = option(
        20,
        minimum=0,
        maximum=1000,
        help="The maximum number of earlier contents of a file that are kept; 0: none.",
    )
    days: int = option(
        180,
        minimum=1,
        maximum=36_500,
        help="Days after which `prune` deletes earlier contents of files.",
    )
    thin: bool = option(
        True,
        help="Whether `prune` keeps, of the earlier contents of a file, all of the last day, one of "
        "each day of the last 30 days, and one of each week before.",
        advanced=True,
    )


@dataclass(frozen=True, slots=True)
class RetentionDefaults:
    """The least retention of all tenants; a tenant may set a stricter one."""

    minimum_days: int = option(
        0,
        minimum=0,
        maximum=36_500,
        help="Days after its last change before which no content of a file is removed.",
    )
    mode: str = option(
        "governance",
        choices=("governance", "compliance"),
        help="`governance`: administrators may remove content sooner, with a reason. `compliance`: no "
        "user may. A later "
        "change of this file does not end `compliance`, nor shorten its `minimum_days`.",
    )


@dataclass(frozen=True, slots=True)
class FilesSettings:
    """Uploads, quotas and retention of tenants' files."""

    storage: str = option("main", help="The named storage of new files.")
    max_file_bytes: int = option(
        64 * _GIBIBYTE, minimum=1, help="The maximum size of a tenant's file in bytes."
    )
    allowed_types: tuple[str, ...] = option(
        (),
        help='Accepted media types of tenants\' files, such as "image/png" or "image/*"; empty: all.',
    )
    default_quota_bytes: int = option(
        0, minimum=0, help="The default quota of a tenant in bytes; 0: unlimited."
    )
    events_kept_days: int = option(
        365,
        minimum=0,
        maximum=36_500,
        help="Days after which `prune` deletes file events, about 1 KB each; 0: never.",
        advanced=True,
    )
    removal_delay_days: int = option(
        0,
        minimum=0,
        maximum=3650,
        help="Days for which the bytes of removed files are kept, for a point-in-time recovery.",
        advanced=True,
    )
    versions: VersionsSettings = option(
        default_factory=VersionsSettings, help="Earlier contents of files."
    )
    trash: TrashSettings = option(default_factory=TrashSettings, help="Deleted files and folders.")
    retention: RetentionDefaults = option(
        default_factory=RetentionDefaults, help="The least retention of all tenants."
    )

    def __post_init__(self) -> None:
        for text in self.allowed_types:
            if not _TYPE.fullmatch(text):
                raise ValueError(f'allowed_types: "{text}" is not like image/png, image/* or */*')


_MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ScanningSettings:
    """The inspection of uploaded content; the table of each scanner has its options."""

    scanners: tuple[str, ...] = option(
        (),
        help='The content scanners in the order of use, such as ["clamd"]; empty: uploads are not '
        "scanned.",
    )
    on_unscannable: str = option(
        "allow-marked",
        choices=("allow-marked", "refuse"),
        help="What happens to files that a scanner cannot examine, such as encrypted archives: they can "
        "be read and are marked, or they are refused.",
    )
    on_unavailable: str = option(
        "hold",
        choices=("hold", "allow-marked"),
        help="What happens to new files while a scanner is unavailable: they are held back, or they can "
        "be read and are marked until they are scanned.",
    )


_PUBLIC, _USERS = "public", "users"
_VISIBILITIES = (_PUBLIC, _USERS)
_WIDEST = 16_383
_TYPE = re.compile(r"\*/\*|[a-z]+/(\*|[a-z0-9][a-z0-9.+-]*)")

PICTURE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp", "image/avif")
"""The image formats that can be decoded and encoded."""

_SIZE_HELP = "The maximum file size in bytes."
_VISIBILITY_HELP = "Who may read the files: anyone who knows the name, or any logged-in user."
_PICTURES_HELP = "The accepted media types, detected from the content."
_PIXELS_HELP = (
    "The maximum number of pixels of an image, all frames together. WebP and animations may have half "
    "as many, AVIF a third, because they need more memory and time."
)
_WIDTHS_HELP = "The widths in pixels that ?width= accepts; each variant is generated once and stored."


@dataclass(frozen=True, slots=True)
class FilesProfile:
    """A table ``[business_files.NAME]`` for files of any kind, the profile of ``POST /api/v1/files``."""

    max_bytes: int = option(100 * _MEBIBYTE, minimum=1, help=_SIZE_HELP)
    types: tuple[str, ...] = option(
        ("*/*",),
        help='The accepted media types, detected from the content; wildcards such as "image/*" work.',
    )
    visibility: str = option(_USERS, choices=_VISIBILITIES, help=_VISIBILITY_HELP)

    def __post_init__(self) -> None:
        for text in self.types:
            if not _TYPE.fullmatch(text):
                raise ValueError(f'types: "{text}" is not like image/png, image/* or */*')


@dataclass(frozen=True, slots=True)
class PicturesProfile:
    """A table ``[business_files.NAME]`` for images, the profile of ``POST /api/v1/files/NAME``."""

    max_bytes: int = option(25 * _MEBIBYTE, minimum=1, help=_SIZE_HELP)
    types: tuple[str, ...] = option(PICTURE_TYPES, help=_PICTURES_HELP)
    visibility: str = option(_PUBLIC, choices=_VISIBILITIES, help=_VISIBILITY_HELP)
    max_pixels: int = option(25_000_000, minimum=1, maximum=89_000_000, help=_PIXELS_HELP, advanced=True)
    widths: tuple[int, ...] = option((320, 640, 1280, 1920), help=_WIDTHS_HELP)

    def __post_init__(self) -> None:
        for text in self.types:
            if text not in PICTURE_TYPES:
                raise ValueError(f'types: "{text}" must be one of: {", ".join(PICTURE_TYPES)}')
        for width in self.widths:
            if not 1 <= width <= _WIDEST:
                raise ValueError(f"widths: each must be from 1 to {_WIDEST}")


_AVATARS: Final = PicturesProfile(
    max_bytes=10 * _MEBIBYTE, max_pixels=12_000_000, widths=(48, 96, 192, 384)
)


@dataclass(frozen=True, slots=True)
class BusinessFilesSettings:
    """Photos, illustrations, covers, avatars and other files that are addressed by name only."""

    files: FilesProfile = option(default_factory=FilesProfile, help="Files of any kind.")
    photos: PicturesProfile = option(default_factory=PicturesProfile, help="Photos.")
    figures: PicturesProfile = option(default_factory=PicturesProfile, help="Illustrations.")
    covers: PicturesProfile = option(default_factory=PicturesProfile, help="Covers.")
    avatars: PicturesProfile = option(default_factory=lambda: _AVATARS, help="Avatars.")
