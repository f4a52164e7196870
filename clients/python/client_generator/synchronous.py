"""The synchronous client from the asynchronous one, by unasync."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import unasync

from client_generator.formatting import formatted_texts

_NAMES: Final = {
    "AsyncAccounts": "Accounts",
    "AsyncBrowserLogin": "BrowserLogin",
    "AsyncCaptchas": "Captchas",
    "AsyncClient": "Client",
    "AsyncDeviceLogin": "DeviceLogin",
    "AsyncDownloader": "Downloader",
    "AsyncImpersonatedClient": "ImpersonatedClient",
    "AsyncLock": "Lock",
    "AsyncOperations": "Operations",
    "AsyncPieces": "Pieces",
    "AsyncSender": "Sender",
    "AsyncServiceAccounts": "ServiceAccounts",
    "AsyncSession": "Session",
    "AsyncShares": "Shares",
    "AsyncSleep": "Sleep",
    "AsyncTrash": "Trash",
    "AsyncUploader": "Uploader",
    "AsyncUserImports": "UserImports",
    "AsyncUsers": "Users",
    "AsyncVersions": "Versions",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "async_in_thread": "in_thread",
    "async_completed": "completed",
    "async_sleep": "sleep",
    "async_spool": "spool",
    "async_waited": "waited",
    "asynccontextmanager": "contextmanager",
}
_NOTE: Final = (
    "The client without an event loop. Written by clients/python/generate_client.py from ``_async``."
)


def synchronous_modules(source: Path) -> dict[str, str]:
    """Return the modules of ``_sync`` by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before, after = folder / "_async", folder / "_sync"
        shutil.copytree(source, before, ignore=shutil.ignore_patterns("__pycache__"))
        rule = unasync.Rule(f"{before}/", f"{after}/", additional_replacements=_NAMES)
        paths = sorted(before.glob("*.py"))
        unasync.unasync_files([str(path) for path in paths], [rule])
        texts = {f"_sync/{path.name}": (after / path.name).read_text() for path in paths}
        texts["_sync/__init__.py"] = f'"""{_NOTE}"""\n'
        return formatted_texts(texts, folder / "formatted")
