"""Client of Strongroom: accounts, tenants and files of a server."""

from . import _catalogue as errors_by_code
from ._async.client import AsyncClient, AsyncImpersonatedClient
from ._sync.accounts import Authenticator
from ._sync.captchas import Captcha
from ._sync.client import Client, ImpersonatedClient, SecondFactor
from .device_codes import DeviceCodes
from .errors import (
    ApiError,
    BadRequestError,
    BrowserLoginFailed,
    ConflictError,
    ConnectionFailed,
    DeviceLoginFailed,
    FieldError,
    ForbiddenError,
    IntegrityError,
    NotFoundError,
    NotLoggedIn,
    RateLimitedError,
    ServerError,
    SourceChanged,
    StrongroomError,
    UnauthorizedError,
    UnexpectedResponse,
)
from .operations import UNSET, Content, Operation, Page, Unset
from .retries import Retries
from .tokens import DeviceStore, FileTokens, MemoryTokens, Tokens, TokenStore
from .transfers import FolderUploads, MemoryUploads, OnConflict, Progress, Report, UploadStates

__all__ = [
    "UNSET",
    "ApiError",
    "AsyncClient",
    "AsyncImpersonatedClient",
    "Authenticator",
    "BadRequestError",
    "BrowserLoginFailed",
    "Captcha",
    "Client",
    "ConflictError",
    "ConnectionFailed",
    "Content",
    "DeviceCodes",
    "DeviceLoginFailed",
    "DeviceStore",
    "FieldError",
    "FileTokens",
    "FolderUploads",
    "ForbiddenError",
    "ImpersonatedClient",
    "IntegrityError",
    "MemoryTokens",
    "MemoryUploads",
    "NotFoundError",
    "NotLoggedIn",
    "OnConflict",
    "Operation",
    "Page",
    "Progress",
    "RateLimitedError",
    "Report",
    "Retries",
    "SecondFactor",
    "ServerError",
    "SourceChanged",
    "StrongroomError",
    "TokenStore",
    "Tokens",
    "UnauthorizedError",
    "UnexpectedResponse",
    "Unset",
    "UploadStates",
    "errors_by_code",
]
