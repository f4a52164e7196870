"""Errors as OSS answers them."""


class OssError(Exception):
    """An answer that is an error.

    Args:
        status: the HTTP status.
        code: the error code of the service, such as ``NoSuchKey``.
        message: for people.
        details: further elements of the answer's XML.
    """

    def __init__(self, status: int, code: str, message: str, **details: str) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = details


def no_such_key(key: str) -> OssError:
    """Return the answer for an object that is not there."""
    return OssError(404, "NoSuchKey", "The specified key does not exist.", Key=key)


def no_such_upload(upload_id: str) -> OssError:
    """Return the answer for a multipart upload that is not under way."""
    message = "The specified upload does not exist. It may have been aborted or completed."
    return OssError(404, "NoSuchUpload", message, UploadId=upload_id)


def invalid_argument(message: str, **details: str) -> OssError:
    """Return the answer for a header or parameter that makes no sense."""
    return OssError(400, "InvalidArgument", message, **details)


def access_denied(message: str, **details: str) -> OssError:
    """Return the answer for a request that may not be made."""
    return OssError(403, "AccessDenied", message, **details)
