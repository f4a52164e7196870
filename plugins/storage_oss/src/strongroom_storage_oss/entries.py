"""Converts objects and keys to PyFilesystem's file information."""

from fs.enums import ResourceType
from fs.info import Info
from fs.path import basename

from strongroom.plugin_api.storage import ObjectStat


def folder_key(path: str) -> str:
    """Return the prefix of all keys in a folder."""
    return f"{path.strip('/')}/" if path.strip("/") else ""


def folder_info(name: str) -> Info:
    """Return the file information of a folder."""
    return Info(
        {
            "basic": {"name": name, "is_dir": True},
            "details": {"size": 0, "type": int(ResourceType.directory)},
        }
    )


def file_info(stat: ObjectStat) -> Info:
    """Return the file information of an object."""
    modified = None if stat.modified_at is None else stat.modified_at / 1000
    return Info(
        {
            "basic": {"name": basename(stat.key), "is_dir": False},
            "details": {"size": stat.size, "type": int(ResourceType.file), "modified": modified},
        }
    )
