"""The pages of folders: their paths, and the links to the folders above."""

from collections.abc import Sequence

from strongroom.plugin_api.visits import Visit, join_path
from strongroom_console.tenant.frame import page_path


def files_path(tenant_id: str, folder_id: str | None) -> str:
    """Return the path of the list of a folder, or of the top level, below the console's."""
    return page_path(tenant_id, "files", *((folder_id,) if folder_id else ()))


def crumbs(visit: Visit, tenant_id: str, names: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return the paths and names of the folders above a node with a path."""
    root = join_path(f"{visit.root}/tenants", tenant_id, "at")
    return [(join_path(root, *names[: depth + 1]), name) for depth, name in enumerate(names[:-1])]
