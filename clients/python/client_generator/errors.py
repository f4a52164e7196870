"""One class per error of the catalogue."""

import tempfile
from pathlib import Path
from typing import Any, Final

from client_generator.formatting import formatted_texts

_FAMILIES: Final = {
    401: "UnauthorizedError",
    403: "ForbiddenError",
    404: "NotFoundError",
    409: "ConflictError",
    410: "NotFoundError",
    412: "ConflictError",
    423: "ConflictError",
    429: "RateLimitedError",
}
_NAMES: Final = {"error.not-implemented": "NotEnabled"}
"""Names of classes that would hide names of Python."""

_LOWEST_SERVER_ERROR: Final = 500
_LOWEST_ERROR: Final = 400
_HEAD: Final = '''\
"""The errors of the server, one class per code. Written by clients/python/generate_client.py."""

from .errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    RateLimitedError,
    ServerError,
    UnauthorizedError,
)
'''
_CLASS: Final = '''

class {name}({family}, code="{code}"):
    """{status} `{code}`: {message}"""
'''


def error_classes(document: dict[str, Any]) -> str:
    """Return the module of the classes."""
    errors = [error for error in document["x-errors"] if error["status"] >= _LOWEST_ERROR]
    text = _HEAD + "".join(map(_class, errors))
    with tempfile.TemporaryDirectory() as folder:
        return formatted_texts({"errors.py": text}, Path(folder))["errors.py"]


def _class(error: dict[str, Any]) -> str:
    default = "ServerError" if error["status"] >= _LOWEST_SERVER_ERROR else "BadRequestError"
    words = error["code"].removeprefix("error.").split("-")
    name = _NAMES.get(error["code"]) or "".join(map(str.capitalize, words))
    return _CLASS.format(name=name, family=_FAMILIES.get(error["status"], default), **error)
