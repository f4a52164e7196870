"""Keys in each form in which the platform and its tools hand them out."""

from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from strongroom_login_alipay.keys import private_key, public_key
from strongroom_login_alipay.options import AlipayApp
from strongroom_simulators.alipay import KeyPair


@pytest.mark.parametrize("structure", ["PKCS#1", "PKCS#8"])
@pytest.mark.parametrize("is_pem", [True, False])
def test_a_private_key_is_pem_or_base64_in_two_structures(
    app_keys: KeyPair, structure: str, is_pem: bool
) -> None:
    text = app_keys.private_text(structure, is_pem=is_pem)
    assert private_key(text).public_key() == app_keys.public


@pytest.mark.parametrize("is_pem", [True, False])
def test_a_public_key_is_pem_or_base64(alipay_keys: KeyPair, is_pem: bool) -> None:
    assert public_key(alipay_keys.public_text(is_pem=is_pem)) == alipay_keys.public


def test_line_breaks_within_base64_are_skipped(app_keys: KeyPair) -> None:
    text = app_keys.private_text(is_pem=False)
    wrapped = "\r\n".join(text[start : start + 64] for start in range(0, len(text), 64))
    assert private_key(f"  {wrapped}\n").public_key() == app_keys.public


def _pem(key: object) -> str:
    encoded = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())  # type: ignore[attr-defined]
    text: str = encoded.decode()
    return text


WRONG = {
    "empty": "",
    "words": "no key",
    "too short": "AAAA",
    "not ASCII": "中文",
    "elliptic curve": _pem(generate_private_key(SECP256R1())),
    "1024 bits": _pem(generate_rsa(65537, 1024)),
}


@pytest.mark.parametrize("text", [*WRONG.values()], ids=WRONG)
def test_other_keys_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be an RSA private key"):
        private_key(text)
    with pytest.raises(ValueError, match="must be an RSA public key"):
        public_key(text)


def test_a_public_key_is_no_private_key(app_keys: KeyPair) -> None:
    with pytest.raises(ValueError, match="private key"):
        private_key(app_keys.public_text())
    with pytest.raises(ValueError, match="public key"):
        public_key(app_keys.private_text())


def test_keys_are_read_from_files(app: AlipayApp, app_keys: KeyPair, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_text(app_keys.private_text("PKCS#1"))
    changed = replace(app, private_key=None, private_key_file=file)
    assert changed.read_private_key().public_key() == app_keys.public


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"private_key": None}, "private_key: required"),
        ({"private_key_file": Path("key.pem")}, "private_key: required"),
        (
            {"private_key": None, "private_key_file": Path("no.pem")},
            "private_key_file: is not read",
        ),
        ({"alipay_public_key": "AAAA"}, "alipay_public_key: must be an RSA public key"),
        ({"app_id": "cli_1"}, "app_id: must be digits"),
        ({"gateway_url": "http://openapi.alipay.com"}, "gateway_url: must begin with https://"),
    ],
)
def test_wrong_configurations_name_their_key(
    app: AlipayApp, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message) as refusal:
        replace(app, **changes)  # type: ignore[arg-type]
    assert app.private_key is not None
    assert app.private_key[64:100] not in str(refusal.value)


def test_no_key_is_in_the_representation(app: AlipayApp) -> None:
    assert "PRIVATE KEY" not in repr(app)
