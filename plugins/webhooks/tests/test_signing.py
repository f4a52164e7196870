"""Signatures are those of Standard Webhooks, verified by the official library and by the RFC's terms."""

import time
from base64 import b64decode

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from strongroom_webhooks.signing import SigningKeys, signed_headers

BODY = '{"type":"file.created","data":{"name":"文件"}}'.encode()


def test_the_specification_s_example() -> None:
    secret = b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    keys = SigningKeys(secret, SigningKeys.create().seed)
    headers = signed_headers([keys], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert headers["webhook-signature"].split()[0] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_the_official_library_accepts_both_secrets_of_a_rotation() -> None:
    former, new, other = (SigningKeys.create() for _ in range(3))
    headers = signed_headers([new, former], "event-1", int(time.time()), BODY)
    for keys in (former, new):
        assert Webhook(keys.shown_secret).verify(BODY, headers)["type"] == "file.created"
    with pytest.raises(WebhookVerificationError):
        Webhook(other.shown_secret).verify(BODY, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(new.shown_secret).verify(BODY + b" ", headers)


def test_the_public_key_verifies() -> None:
    keys = SigningKeys.create()
    headers = signed_headers([keys], "event-1", 1_700_000_000, BODY)
    public = Ed25519PublicKey.from_public_bytes(
        b64decode(keys.shown_public_key.removeprefix("whpk_"), validate=True)
    )
    signature = b64decode(headers["webhook-signature"].split("v1a,")[1])
    public.verify(signature, b"event-1.1700000000." + BODY)
    with pytest.raises(InvalidSignature):
        public.verify(signature, b"event-1.1700000001." + BODY)


def test_keys_survive_json_and_are_not_shown() -> None:
    keys = SigningKeys.create()
    assert SigningKeys.from_json(keys.json()) == keys
    assert len(keys.secret) == 32
    assert repr(keys) == "SigningKeys(valid_until=None)"
