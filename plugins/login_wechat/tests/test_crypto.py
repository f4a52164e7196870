"""Signatures and encryption of mini programs, by WeChat's published samples and by made-up ones."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strongroom_login_wechat.crypto import check_signature, check_watermark, decrypt, sign
from strongroom_login_wechat.errors import DataInvalid
from strongroom_simulators.wechat.user_data import encrypt

RAW_DATA = (
    '{"nickName":"Band","gender":1,"language":"zh_CN","city":"Guangzhou","province":"Guangdong",'
    '"country":"CN","avatarUrl":"http://wx.qlogo.cn/mmopen/vi_32/1vZvI39NWFQ9XM4LtQpFrQJ1xlgZxx3w7'
    'bQxKARol6503Iuswjjn6nIGBiaycAjAtpujxyzYsrztuuICqIM5ibXQ/0"}'
)
RAW_DATA_KEY = "HyVFkGl5F5OQWJZZaNzBBg=="
SIGNATURE = "75e81ceda165f4ffa64f4068af58c64b8f54b88c"

APPID = "wx4f4bc4dec97d474b"
SESSION_KEY = "tiihtNczf5v6AKRyjwEUhQ=="
IV = "r7BXXKkLb8qrSNn05n0qiA=="
ENCRYPTED_DATA = (
    "CiyLU1Aw2KjvrjMdj8YKliAjtP4gsMZMQmRzooG2xrDcvSnxIMXFufNstNGTyaGS9uT5geRa0W4oTOb1WT7fJlAC+oNPdbB+"
    "3hVbJSRgv+4lGOETKUQz6OYStslQ142dNCuabNPGBzlooOmB231qMM85d2/fV6ChevvXvQP8Hkue1poOFtnEtpyxVLW1zAo6"
    "/1Xx1COxFvrc2d7UL/lmHInNlxuacJXwu0fjpXfz/YqYzBIBzD6WUfTIF9GRHpOn/Hz7saL8xz+W//FRAUid1OksQaQx4CMs"
    "8LOddcQhULW4ucetDf96JcR3g0gfRK4PC7E/r7Z6xNrXd2UIeorGj5Ef7b1pJAYB6Y5anaHqZ9J6nKEBvB4DnNLIVWSgARns"
    "/8wR2SiRS7MNACwTyrGvt9ts8p12PKFdlqYTopNHR1Vf7XjfhQlVsAJdNiKdYmYVoKlaRv85IfVunYzO0IKXsyl7JCUjCpoG"
    "20f0a04COwfneQAGGwd5oa+T8yO5hzuyDb/XcxxmK01EpqOyuxINew=="
)
WRITTEN_AT = 1477314187

KEYS = st.binary(min_size=16, max_size=16).map(lambda key: base64.b64encode(key).decode())


def test_the_published_signature_is_reproduced() -> None:
    assert sign(RAW_DATA, RAW_DATA_KEY) == SIGNATURE
    check_signature(RAW_DATA, SIGNATURE, RAW_DATA_KEY)


@pytest.mark.parametrize(
    ("raw_data", "signature", "session_key"),
    [
        (RAW_DATA.replace("Band", "Bond"), SIGNATURE, RAW_DATA_KEY),
        (RAW_DATA, SIGNATURE.upper(), RAW_DATA_KEY),
        (RAW_DATA, "", RAW_DATA_KEY),
        (RAW_DATA, "签名", RAW_DATA_KEY),
        (RAW_DATA, SIGNATURE, SESSION_KEY),
    ],
)
def test_any_other_data_signature_or_key_is_refused(
    raw_data: str, signature: str, session_key: str
) -> None:
    with pytest.raises(DataInvalid, match="signature"):
        check_signature(raw_data, signature, session_key)


def test_the_published_sample_of_encrypted_data_decrypts() -> None:
    members = decrypt(ENCRYPTED_DATA, IV, SESSION_KEY)
    assert members["openId"] == "oGZUI0egBJY1zhBYw2KhdUfwVJJE"
    assert members["unionId"] == "ocMvos6NjeKLIBqg5Mr9QjxrP1FA"
    assert members["nickName"] == "Band"
    assert members["watermark"] == {"timestamp": WRITTEN_AT, "appid": APPID}
    check_watermark(members, appid=APPID, now=WRITTEN_AT + 10, max_age=300)


@given(
    members=st.dictionaries(st.text(), st.text() | st.integers(-(2**53), 2**53)),
    session_key=KEYS,
    other_key=KEYS,
)
def test_data_decrypts_under_its_own_key_only(
    members: dict[str, str | int], session_key: str, other_key: str
) -> None:
    sent = encrypt(members, session_key)
    assert decrypt(sent["encryptedData"], sent["iv"], session_key) == members
    if other_key != session_key:
        with pytest.raises(DataInvalid):
            decrypt(sent["encryptedData"], sent["iv"], other_key)


@given(st.text(), st.text(), st.text())
def test_nonsense_is_refused_in_one_way(encrypted_data: str, iv: str, session_key: str) -> None:
    with pytest.raises(DataInvalid, match=r"^the data does not decrypt$"):
        decrypt(encrypted_data, iv, session_key)


@given(st.integers(0, len(base64.b64decode(ENCRYPTED_DATA)) - 1))
def test_truncated_data_is_refused_in_the_same_way(length: int) -> None:
    cut = base64.b64encode(base64.b64decode(ENCRYPTED_DATA)[:length]).decode()
    with pytest.raises(DataInvalid, match=r"^the data does not decrypt$"):
        decrypt(cut, IV, SESSION_KEY)


@pytest.mark.parametrize("age", [-60, 0, 300])
def test_a_watermark_of_this_app_and_moment_is_accepted(age: int) -> None:
    watermark = {"appid": APPID, "timestamp": WRITTEN_AT}
    check_watermark({"watermark": watermark}, appid=APPID, now=WRITTEN_AT + age, max_age=300)


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"watermark": APPID},
        {"watermark": {"timestamp": WRITTEN_AT}},
        {"watermark": {"appid": "wx0000000000000000", "timestamp": WRITTEN_AT}},
        {"watermark": {"appid": APPID}},
        {"watermark": {"appid": APPID, "timestamp": str(WRITTEN_AT)}},
        {"watermark": {"appid": APPID, "timestamp": WRITTEN_AT - 301}},
        {"watermark": {"appid": APPID, "timestamp": WRITTEN_AT + 61}},
    ],
)
def test_any_other_watermark_is_refused(members: dict[str, object]) -> None:
    with pytest.raises(DataInvalid):
        check_watermark(members, appid=APPID, now=WRITTEN_AT, max_age=300)
