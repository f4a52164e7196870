"""The codes and sub codes of the gateway."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of refusal.

    Args:
        is_signed: whether the gateway signs it; it does not sign what it cannot attribute to an app.
    """

    code: str
    msg: str
    sub_code: str
    sub_msg: str
    is_signed: bool = True

    @property
    def members(self) -> dict[str, str]:
        """The members of the ``error_response``."""
        members = {"code": self.code, "msg": self.msg}
        return {**members, "sub_code": self.sub_code, "sub_msg": self.sub_msg}


class Refusal(Exception):
    """An ``error_response``."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind.sub_code)
        self.kind = kind


def _missing(name: str, sub_msg: str) -> Kind:
    return Kind("40001", "Missing Required Arguments", f"isv.missing-{name}", sub_msg, is_signed=False)


def _invalid(name: str, sub_msg: str, *, is_signed: bool = False) -> Kind:
    return Kind("40002", "Invalid Arguments", f"isv.{name}", sub_msg, is_signed)


MISSING_APP_ID = _missing("app-id", "缺少AppID参数")
MISSING_METHOD = _missing("method", "缺少方法名参数")
MISSING_SIGNATURE = _missing("signature", "缺少签名参数")
MISSING_TIMESTAMP = _missing("timestamp", "缺少时间戳参数")
INVALID_APP_ID = _invalid("invalid-app-id", "无效的AppID参数")
INVALID_CHARSET = _invalid("invalid-charset", "字符集错误")
INVALID_FORMAT = _invalid("invalid-format", "无效的数据格式")
INVALID_METHOD = _invalid("invalid-method", "不存在的方法名")
INVALID_SIGNATURE = _invalid("invalid-signature", "验签出错")
INVALID_SIGNATURE_TYPE = _invalid("invalid-signature-type", "无效签名类型")
INVALID_TIMESTAMP = _invalid("invalid-timestamp", "非法的时间戳参数")
INVALID_GRANT_TYPE = _invalid("grant-type-invalid", "授权类型无效", is_signed=True)
INVALID_CODE = _invalid("code-invalid", "授权码code无效", is_signed=True)
INVALID_CERTIFICATE = _invalid("app-cert-expired", "应用公钥证书与应用不匹配")
INVALID_TOKEN = Kind(
    "20001", "Insufficient Token Permissions", "aop.invalid-auth-token", "无效的访问令牌"
)
TOKEN_EXPIRED = Kind(
    "20001", "Insufficient Token Permissions", "aop.auth-token-time-out", "访问令牌已过期"
)
NO_PERMISSION = Kind(
    "40006", "Insufficient Permissions", "isv.insufficient-isv-permissions", "ISV权限不足"
)
CALL_LIMITED = Kind("40005", "Call Limited", "isv.app-call-limited", "应用调用次数超限")
SERVICE_UNAVAILABLE = Kind("20000", "Service Currently Unavailable", "isp.unknow-error", "系统繁忙")
