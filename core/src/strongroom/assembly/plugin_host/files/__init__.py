"""Implements ``host.files`` by the services that the REST API uses, as the caller."""

from strongroom.assembly.plugin_host.files.changing import FileChanges
from strongroom.assembly.plugin_host.files.locking import FileLocking
from strongroom.assembly.plugin_host.files.reading import FileReads
from strongroom.assembly.plugin_host.files.sending import FileResponses
from strongroom.assembly.plugin_host.files.writing import FileWrites


class HostFiles(FileReads, FileResponses, FileWrites, FileChanges, FileLocking):
    """Implements :class:`strongroom.plugin_api.files.FilesAPI`."""
