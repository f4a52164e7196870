"""Error responses of OSS."""


class OssError(Exception):
    """An error response.

    Args:
        status: the HTTP status.
        code: the error code of the service, such as ``NoSuchKey``.
        message: the human-readable message.
        details: further elements of the XML body.
    """

    def __init__(self, status: int, code: str, message: str, **details: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = details


def no_such_key(key: str) -> OssError:
    """Return the error for a missing object."""
    return OssError(404, "NoSuchKey", "The specified key does not exist.", Key=key)


def no_such_upload(upload_id: str) -> OssError:
    """Return the error for a multipart upload that is not in progress."""
    message = "The specified upload does not exist. It may have been aborted or completed."
    return OssError(404, "NoSuchUpload", message, UploadId=upload_id)


def invalid_argument(message: str, **details: str) -> OssError:
    """Return the error for an invalid header or parameter."""
    return OssError(400, "InvalidArgument", message, **details)


def access_denied(message: str, **details: str) -> OssError:
    """Return the error for a forbidden request."""
    return OssError(403, "AccessDenied", message, **details)
