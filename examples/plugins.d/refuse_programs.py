"""Refuses uploads of programs for Windows, by their name and by their first bytes.

Copy this file to the folder of ``[plugins] folder``, and select the scanner::

    [scanning]
    scanners = ["programs"]
"""

from strongroom.plugin_api import NoOptions, hookimpl
from strongroom.plugin_api.scanning import ContentScanner, Verdict
from strongroom.plugin_api.storage import ByteSource
from strongroom.plugin_api.web import ErrorKind

API_VERSION = "2.0"

REFUSED = ErrorKind(422, "error.program-refused", "Programs are not accepted.")
EXTENSIONS = (".exe", ".com", ".scr", ".msi")
MAGIC = b"MZ"


class ProgramScanner(ContentScanner[NoOptions]):
    """Refuses programs; reads no more than the first bytes."""

    name = "programs"
    head_only = True

    def scan(self, stream: ByteSource, *, name: str, size: int, content_type: str) -> Verdict:  # noqa: ARG002
        """Return the verdict about a file."""
        if name.lower().endswith(EXTENSIONS) or stream.read(len(MAGIC)) == MAGIC:
            return Verdict.rejected(REFUSED)
        return Verdict.clean()


@hookimpl
def register_content_scanners() -> list[type[ContentScanner[NoOptions]]]:
    """Return the scanner."""
    return [ProgramScanner]


@hookimpl
def register_errors() -> list[ErrorKind]:
    """Return the error of refused uploads."""
    return [REFUSED]
