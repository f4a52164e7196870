"""User data for mini programs: signed plaintext, and encrypted."""

import hashlib
import json
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES128
from cryptography.hazmat.primitives.ciphers.modes import CBC

from strongroom_simulators.wechat.registry import Person, PlatformApp

BLOCK = 16


def user_data(app: PlatformApp, person: Person, session_key: str, now: float) -> dict[str, str]:
    """Return the result of ``wx.getUserInfo``; ``now`` is in seconds since the Unix epoch."""
    profile = {"nickName": person.nickname, "gender": 0, "language": "zh_CN", "avatarUrl": ""}
    raw_data = json.dumps(profile, ensure_ascii=False, separators=(",", ":"))
    sensitive = {
        "openId": app.openid(person),
        **profile,
        "unionId": app.unionid(person),
        "watermark": {"timestamp": int(now), "appid": app.appid},
    }
    return {
        "rawData": raw_data,
        "signature": hashlib.sha1((raw_data + session_key).encode()).hexdigest(),
        **encrypt(sensitive, session_key),
    }


def encrypt(members: Mapping[str, object], session_key: str) -> dict[str, str]:
    """Return the members that are not ``None`` as ``encryptedData`` and ``iv``, in Base64."""
    present = {name: value for name, value in members.items() if value is not None}
    plain = json.dumps(present, ensure_ascii=False, separators=(",", ":")).encode()
    # PKCS#7 padding: n bytes of the value n, up to the block size. Then AES-128 in CBC mode.
    missing = BLOCK - len(plain) % BLOCK
    iv = secrets.token_bytes(BLOCK)
    encryptor = Cipher(AES128(b64decode(session_key)), CBC(iv)).encryptor()
    encrypted = encryptor.update(plain + bytes([missing]) * missing) + encryptor.finalize()
    return {"encryptedData": b64encode(encrypted).decode(), "iv": b64encode(iv).decode()}


def new_session_key() -> str:
    """Return 16 random bytes in Base64."""
    return b64encode(secrets.token_bytes(BLOCK)).decode()
