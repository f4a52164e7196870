"""New folders, and uploads by a plain form, which needs no script."""

from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import current_visit
from strongroom.plugin_api.web import ApiError
from strongroom_console.my_files.conflicts import requested_rule
from strongroom_console.my_files.folders import files_path
from strongroom_console.tenant.frame import tenant_path

creation: Final = Blueprint("creation", __name__)


@creation.post("/tenants/<tenant_id>/folders")
def create_folder(tenant_id: str) -> Any:
    """Create a folder in the folder of the list, and show it there."""
    visit = current_visit()
    folder_id, name = request.form.get("folder") or None, request.form.get("name", "").strip()
    place = ("files", folder_id) if folder_id else ()
    path = tenant_path(tenant_id, *place, "folders")
    response = visit.rest("POST", path, {"name": name})
    return visit.follow(response, files_path(tenant_id, folder_id), "folder-created", name=name)


@creation.post("/tenants/<tenant_id>/upload")
def upload_file(tenant_id: str) -> Any:
    """Store the file of a form. Its other values are in the query, because the body is a stream."""
    visit = current_visit()
    folder_id = request.args.get("folder") or None
    here = files_path(tenant_id, folder_id)
    try:
        file = visit.host.files.receive(tenant_id, folder_id, on_conflict=requested_rule(request.args))
    except ApiError as error:
        return visit.refuse(here, str(error))
    return visit.redirect(here, "file-uploaded", name=file.name)
