"""The keys of what users keep; those of business files are beside this module."""

from dataclasses import dataclass

from strongroom.plugin_api import option

_GIBIBYTE = 1024**3


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """A named storage; the other keys of the section are the options of its back end."""

    backend: str = option(help="The name of a registered storage backend, such as local or s3.")
    downloads: str = option(
        "server",
        choices=("server", "redirect", "x_accel"),
        help="Who gives files out: the server; the store itself, by a redirect to a signed URL; or the "
        "nginx in front, by X-Accel-Redirect.",
    )
    x_accel_location: str = option(
        "/_strongroom", help="What nginx's internal locations begin with, before the path of the file."
    )
    direct_uploads: bool = option(
        False, help="Whether clients may send files to the store itself, by signed requests."
    )
    signed_url_seconds: int = option(
        300,
        minimum=10,
        maximum=12 * 3600,
        help="How long the URLs of redirects and direct uploads hold.",
    )


@dataclass(frozen=True, slots=True)
class TenantsSettings:
    """What happens to tenants."""

    purge_after_days: int = option(
        30,
        minimum=0,
        maximum=3650,
        help="The days for which a deleted tenant can be restored, before `housekeeping` purges it.",
    )


@dataclass(frozen=True, slots=True)
class FilesSettings:
    """What may be uploaded, and where it goes."""

    storage: str = option("main", help="The named storage that new bytes go to.")
    max_file_bytes: int = option(
        64 * _GIBIBYTE, minimum=1, help="The largest file, in bytes, that a tenant's space accepts."
    )
    allowed_types: tuple[str, ...] = option(
        (),
        help='Media types that a tenant\'s space accepts, such as "image/png" or "image/*"; empty: all.',
    )
    default_quota_bytes: int = option(
        0, minimum=0, help="Bytes that a tenant without a quota of its own may use; 0: any number."
    )
    bundle_lifetime_seconds: int = option(
        86_400,
        minimum=60,
        maximum=2_592_000,
        help="How long a bundle that broke off can be resumed by its own URL.",
    )
    upload_lifetime_seconds: int = option(
        86_400,
        minimum=60,
        maximum=31_536_000,
        help="How long a resumable upload that makes no progress is kept.",
    )
    open_direct_uploads_per_user: int = option(
        100,
        minimum=1,
        maximum=100_000,
        help="Direct uploads that a user may have announced and not completed; each reserves its size.",
    )
    events_kept_days: int = option(
        365,
        minimum=0,
        maximum=36_500,
        help="How long `housekeeping` leaves file events alone; 0: without end.",
    )
    user_tenants: bool = option(
        True, help="Whether any user may create a tenant, or administrators only."
    )
