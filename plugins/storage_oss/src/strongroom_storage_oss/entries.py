"""How objects and their keys look to PyFilesystem."""

from fs.enums import ResourceType
from fs.info import Info
from fs.path import basename

from strongroom.plugin_api.storage import ObjectStat


def folder_key(path: str) -> str:
    """Return what the keys of all that is in a folder begin with."""
    return f"{path.strip('/')}/" if path.strip("/") else ""


def folder_info(name: str) -> Info:
    """Describe a folder."""
    return Info(
        {
            "basic": {"name": name, "is_dir": True},
            "details": {"size": 0, "type": int(ResourceType.directory)},
        }
    )


def file_info(stat: ObjectStat) -> Info:
    """Describe the file that an object is."""
    modified = None if stat.modified_at is None else stat.modified_at / 1000
    return Info(
        {
            "basic": {"name": basename(stat.key), "is_dir": False},
            "details": {"size": stat.size, "type": int(ResourceType.file), "modified": modified},
        }
    )
