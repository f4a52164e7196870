"""Resumable uploads (tus 1.0) of the scripts of the pages."""

from typing import Any, Final

from flask import Blueprint, g, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import current_visit, join_path
from strongroom.plugin_api.web import ApiError
from strongroom_console.my_files.conflicts import requested_rule

uploads: Final = Blueprint("uploads", __name__)

_ROOT: Final = "/tenants/<tenant_id>/uploads"
_UPLOAD: Final = f"{_ROOT}/<upload_id>"


@uploads.after_request
def add_version(response: Any) -> Any:
    """Add the headers of tus, unless the browser is only led to the login."""
    return g.visit.host.uploads.finish(response) if "visit" in g else response


@uploads.errorhandler(ApiError)
def hide_foreign_uploads(error: ApiError) -> Any:
    """Let an upload of another user look like a missing one."""
    is_upload = "upload_id" in (request.view_args or {})
    if is_upload and error.code == "error.forbidden":
        raise NotFound from error
    raise error


@uploads.route(_ROOT, methods=["OPTIONS"], provide_automatic_options=False)
def describe_uploads(tenant_id: str) -> Any:  # noqa: ARG001  the same for all tenants
    """Return the supported version, extensions and limits, as headers."""
    return current_visit().host.uploads.describe()


@uploads.post(_ROOT, provide_automatic_options=False)
def create_upload(tenant_id: str) -> Any:
    """Create an upload into the folder of the query; its metadata may name a path below that folder."""
    visit = current_visit()
    here = join_path(f"{visit.root}/tenants", tenant_id, "uploads")
    response, _ = visit.host.uploads.create(
        tenant_id,
        request.args.get("folder") or None,
        on_conflict=requested_rule(request.args),
        location=lambda upload_id: f"{here}/{upload_id}",
        creates_folders=True,
    )
    return response


@uploads.route(_UPLOAD, methods=["HEAD"], provide_automatic_options=False)
def show_upload(tenant_id: str, upload_id: str) -> Any:
    """Return the offset of an upload, as headers."""
    return current_visit().host.uploads.state(tenant_id, upload_id)[0]


@uploads.patch(_UPLOAD, provide_automatic_options=False)
def append_to_upload(tenant_id: str, upload_id: str) -> Any:
    """Append to an upload; the last byte creates the file."""
    return current_visit().host.uploads.append(tenant_id, upload_id)[0]


@uploads.delete(_UPLOAD, provide_automatic_options=False)
def terminate_upload(tenant_id: str, upload_id: str) -> Any:
    """Delete an upload; a file that was created from it remains."""
    return current_visit().host.uploads.terminate(tenant_id, upload_id)
