"""The keys of storages, tenants and files."""

from dataclasses import dataclass

from strongroom.plugin_api import option

_GIBIBYTE = 1024**3


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """A named storage; the other keys of its table are the options of the backend."""

    backend: str = option(help="The name of a registered storage backend, such as local or s3.")
    downloads: str = option(
        "server",
        choices=("server", "redirect", "x_accel"),
        help="How files are delivered: by the server, by a redirect to a signed URL of the store, or by "
        "nginx with X-Accel-Redirect.",
    )
    x_accel_location: str = option(
        "/_strongroom", help="The prefix of nginx's internal locations, before the path of the file."
    )
    direct_uploads: bool = option(
        False, help="Whether clients may upload files directly to the store, by presigned requests."
    )
    signed_url_seconds: int = option(
        300,
        minimum=10,
        maximum=12 * 3600,
        help="The lifetime in seconds of presigned URLs, for redirects and direct uploads.",
    )


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
    bundle_lifetime_seconds: int = option(
        86_400,
        minimum=60,
        maximum=2_592_000,
        help="Seconds for which an interrupted bundle download can be resumed by its URL.",
    )
    upload_lifetime_seconds: int = option(
        86_400,
        minimum=60,
        maximum=31_536_000,
        help="Seconds after which a resumable upload without progress is deleted.",
    )
    open_direct_uploads_per_user: int = option(
        100,
        minimum=1,
        maximum=100_000,
        help="The maximum number of incomplete direct uploads per user; each reserves its size.",
    )
    events_kept_days: int = option(
        365,
        minimum=0,
        maximum=36_500,
        help="Days after which `prune` deletes file events; 0: never.",
    )
