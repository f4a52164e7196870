"""Failures of tools, in words that tell an agent what it can do next."""

from typing import Final

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.web import ApiError

_ADVICE: Final = {
    "error.not-found": "It does not exist within your reach. Find ids by files_list or files_search.",
    "error.forbidden": "Your access does not include this. Do not repeat it; ask the user.",
    "error.insufficient-scope": "Ask the user for an access key with this scope.",
    "error.key-not-accepted": "Access keys cannot do this. Ask the user to do it.",
    "error.impersonation-refused": "Do not repeat it.",
    "error.name-conflict": "Choose another name, or change the existing file by its id and revision.",
    "error.revision-conflict": "The file has changed. Read it again, then repeat with its new revision.",
    "error.parent-gone": "The folder was deleted. Find another one by files_list.",
    "error.move-into-itself": "Choose a folder outside of the moved one.",
    "error.not-a-file": "This is a folder. Use files_list for its files.",
    "error.not-a-folder": "This is a file. Use files_stat for its folder.",
    "error.file-locked": "Another user changes it. Repeat the call later, or ask the user.",
    "error.held": "A hold protects it. Ask the user.",
    "error.retained": "A retention period protects it. Ask the user.",
    "error.quarantined": "Do not repeat it; ask the user.",
    "error.not-scanned-yet": "Wait a minute, then repeat the call.",
    "error.step-up-required": "Ask the user to do it.",
    "error.storage-full": "Ask the user to free space.",
    "error.payload-too-large": "Use a smaller file.",
    "error.too-many-nodes": "Use a smaller folder.",
}
_UNAUTHORIZED: Final = 401
_TOO_MANY: Final = 429
_SERVER: Final = 500
_FULL: Final = 507


class ToolFailed(Exception):
    """A tool cannot do what was asked. The message is for the agent.

    Args:
        code: the reason, for the audit log.
    """

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class ScopeMissing(ToolFailed):
    """The caller lacks a scope of a tool; a client can request it from the user.

    Args:
        scopes: all scopes of the call.
    """

    def __init__(self, tool_scope: str, scope: str) -> None:
        super().__init__(f"This tool needs an access key with the scope {scope}.", "scope")
        self.scopes = tuple(dict.fromkeys((Scope.FILES_READ.value, str(tool_scope), str(scope))))


def translate(error: ApiError) -> ToolFailed:
    """Return the failure for an error of the server.

    Raises:
        ApiError: it concerns the whole request: the token, the rate or an outage.
    """
    is_outage = error.status >= _SERVER and error.status != _FULL
    if is_outage or error.status in (_UNAUTHORIZED, _TOO_MANY):
        raise error
    details = " ".join(f"{detail.field}: {detail.message}" for detail in error.details)
    advice = _ADVICE.get(error.code, "")
    text = " ".join(part for part in (f"{error} ({error.code})", details, advice) if part)
    return ToolFailed(text, error.code)
