"""The schemes fulfil the contract, verify hashes of other systems, and refuse expensive ones."""

import base64
import hashlib
import hmac
import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import bcrypt
import pytest
from argon2.low_level import Type, hash_secret

from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.password_schemes import HashRejected, Json, PasswordScheme
from strongroom.testing.password_schemes import PASSWORD, PasswordSchemeContract, matches
from strongroom_password_schemes.md4 import md4
from strongroom_password_schemes.plugin import register_password_schemes

SCHEMES: Final = {kind.name: kind(NoOptions()) for kind in register_password_schemes()}
SECRET: Final = PASSWORD.encode()
SALT: Final = b"0123456789abcdef"


def b64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def phc(content: bytes) -> str:
    return b64(content).rstrip("=")


def custom(algorithm: str, **members: Any) -> Json:
    """Return a ``custom_password_hash`` of Auth0."""
    return {"custom_password_hash": {"algorithm": algorithm, **members}}


def keycloak(algorithm: str, value: bytes, iterations: int, **parameters: str) -> Json:
    """Return the credential of an export, whose two members are JSON in text."""
    data = {
        "algorithm": algorithm,
        "hashIterations": iterations,
        "additionalParameters": {name: [each] for name, each in parameters.items()},
    }
    secret = {"value": b64(value), "salt": b64(SALT), "additionalParameters": {}}
    return {"credentialData": json.dumps(data), "secretData": json.dumps(secret)}


def bcrypted(secret: bytes, kind: str = "$2y$") -> str:
    return bcrypt.hashpw(secret, bcrypt.gensalt(4)).decode().replace("$2b$", kind)


ARGON2: Final = hash_secret(SECRET, SALT, 2, 64, 1, 32, Type.ID)
ARGON2_RAW: Final = base64.b64decode(ARGON2.rpartition(b"$")[2] + b"=")
PBKDF2: Final = hashlib.pbkdf2_hmac("sha256", SECRET, SALT, 1000)
SCRYPT: Final = hashlib.scrypt(SECRET, salt=SALT, n=16, r=8, p=1)

OF_PASSWORD: Final[Mapping[str, tuple[str, Json]]] = {
    "bcrypt": ("bcrypt", {"hash": bcrypted(SECRET)}),
    "argon2": ("argon2", {"hash": ARGON2.decode()}),
    "pbkdf2": ("pbkdf2", {"hash": f"$pbkdf2-sha256$i=1000,l=32${phc(SALT)}${phc(PBKDF2)}"}),
    "wordpress": (
        "wordpress",
        {"hash": "$wp" + bcrypted(base64.b64encode(hmac.digest(b"wp-sha384", SECRET, "sha384")))},
    ),
    "django pbkdf2": ("django", {"hash": f"pbkdf2_sha256$1000${SALT.decode()}${b64(PBKDF2)}"}),
    "django scrypt": ("django", {"hash": f"scrypt$16${SALT.decode()}$8$1${b64(SCRYPT)}"}),
    "django argon2": ("django", {"hash": f"argon2{ARGON2.decode()}"}),
    "django bcrypt_sha256": (
        "django",
        {"hash": f"bcrypt_sha256${bcrypted(hashlib.sha256(SECRET).hexdigest().encode(), '$2b$')}"},
    ),
    "keycloak pbkdf2": (
        "keycloak",
        keycloak("pbkdf2", hashlib.pbkdf2_hmac("sha1", SECRET, SALT, 1000, 64), 1000),
    ),
    "keycloak pbkdf2-sha512": (
        "keycloak",
        keycloak("pbkdf2-sha512", hashlib.pbkdf2_hmac("sha512", SECRET, SALT, 1000), 1000),
    ),
    "keycloak argon2": (
        "keycloak",
        keycloak("argon2", ARGON2_RAW, 2, type="id", version="1.3", memory="64", parallelism="1"),
    ),
    "auth0 scrypt": (
        "auth0",
        custom(
            "scrypt",
            hash={"value": b64(SCRYPT), "encoding": "base64"},
            salt={"value": SALT.decode(), "encoding": "utf8"},
            keylen=64,
            cost=16,
            blockSize=8,
            parallelization=1,
        ),
    ),
    "auth0 argon2": ("auth0", custom("argon2", hash={"value": ARGON2.decode(), "encoding": "utf8"})),
    "auth0 sha512, salt after it": (
        "auth0",
        custom(
            "sha512",
            hash={"value": b64(hashlib.sha512(SECRET + SALT).digest()), "encoding": "base64"},
            salt={"value": SALT.hex(), "encoding": "hex", "position": "suffix"},
        ),
    ),
    "auth0 md5, salt before it": (
        "auth0",
        custom(
            "md5",
            hash={"value": hashlib.md5(SALT + SECRET).hexdigest(), "encoding": "hex"},
            salt={"value": SALT.decode(), "encoding": "utf8", "position": "prefix"},
        ),
    ),
    "auth0 hmac": (
        "auth0",
        custom(
            "hmac",
            hash={
                "value": hmac.digest(b"key", SECRET, "sha256").hex(),
                "encoding": "hex",
                "digest": "sha256",
                "key": {"value": "key", "encoding": "utf8"},
            },
        ),
    ),
    "auth0 ldap": (
        "auth0",
        custom("ldap", hash={"value": "{SSHA}" + b64(hashlib.sha1(SECRET + SALT).digest() + SALT)}),
    ),
}


@pytest.mark.parametrize("case", OF_PASSWORD)
class TestSchemes(PasswordSchemeContract):
    """The contract, for each kind of hash."""

    @pytest.fixture
    def scheme(self, case: str) -> PasswordScheme:
        return SCHEMES[OF_PASSWORD[case][0]]

    @pytest.fixture
    def described(self, case: str) -> Json:
        return OF_PASSWORD[case][1]


SIGNER_KEY: Final = (
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
)
FIREBASE: Final = {
    "hash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
    "salt": "42xEC+ixf3L2lw==",
    "saltSeparator": "Bw==",
    "signerKey": SIGNER_KEY,
    "rounds": 8,
    "memCost": 14,
}
PUBLISHED: Final[Sequence[tuple[str, Json, str]]] = (
    # Test vectors of WordPress, phpass, Firebase, Django, crypt_blowfish, Argon2 and of NT hashes.
    (
        "wordpress",
        {"hash": "$wp$2y$10$qeleDSuDaeZO5fBsEqFReeWdlqaDnBDBzB16hFgsFnhN9qFBIihvm"},
        "BigBike@2026",
    ),
    ("phpass", {"hash": "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}, "test12345"),
    ("wordpress", {"hash": "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"}, "test12345"),
    ("firebase", FIREBASE, "user1password"),
    (
        "django",
        {"hash": "pbkdf2_sha256$870000$seasalt$wJSpLMQRQz0Dhj/pFpbyjMj71B2gUYp6HJS5AU+32Ac="},
        "lètmein",
    ),
    (
        "django",
        {
            "hash": "scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71"
            "m0ldQESkXFRkdVCBhhY8mx7rQwite/Pw=="
        },
        "lètmein",
    ),
    ("bcrypt", {"hash": "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"}, "U*U"),
    (
        "argon2",
        {
            "hash": "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZW"
            "b2GRPPc"
        },
        "password",
    ),
    (
        "auth0",
        custom(
            "md4",
            hash={"value": "8846f7eaee8fb117ad06bdd830b7586c", "encoding": "hex"},
            password={"encoding": "utf16le"},
        ),
        "password",
    ),
)


@pytest.mark.parametrize(("name", "described", "password"), PUBLISHED)
def test_published_hashes_match_their_passwords_only(name: str, described: Json, password: str) -> None:
    scheme = SCHEMES[name]
    parsed = scheme.parse(described)
    assert matches(scheme, parsed, password)
    assert not matches(scheme, parsed, f"{password}x")


@pytest.mark.parametrize(
    ("content", "digest"),
    [
        (b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (b"abc", "a448017aaf21d8525fc10ae87aa6729d"),
        (b"1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_md4_has_the_digests_of_its_rfc(content: bytes, digest: str) -> None:
    assert md4(content).hex() == digest


def test_bcrypt_reads_72_bytes_as_its_origin_did() -> None:
    stored = {"hash": bcrypted(b"p" * 72)}
    scheme = SCHEMES["bcrypt"]
    assert scheme.verify("p" * 100, scheme.parse(stored).text)
    assert not scheme.verify("p" * 71, scheme.parse(stored).text)


def test_wordpress_trims_the_blanks_that_php_trims() -> None:
    scheme, described, password = SCHEMES["wordpress"], PUBLISHED[0][1], PUBLISHED[0][2]
    text = scheme.parse(described).text
    assert scheme.verify(f" {password}\t\n", text)
    assert not scheme.verify(f"\u3000{password}", text)


def test_firebase_reads_the_url_safe_alphabet_of_its_admin_sdk() -> None:
    alphabet = str.maketrans("+/", "-_")
    names = ("hash", "salt", "saltSeparator", "signerKey")
    described = {**FIREBASE, **{name: str(FIREBASE[name]).translate(alphabet) for name in names}}
    assert SCHEMES["firebase"].parse(described) == SCHEMES["firebase"].parse(FIREBASE)


def test_scrypt_beyond_the_default_memory_of_openssl_is_verified() -> None:
    derived = hashlib.scrypt(SECRET, salt=SALT, n=2**15, r=8, p=1, maxmem=2**27)
    described = {"hash": f"scrypt${2**15}${SALT.decode()}$8$1${b64(derived)}"}
    scheme = SCHEMES["django"]
    assert scheme.verify(PASSWORD, scheme.parse(described).text)


B22: Final = "A" * 22
B43: Final = "A" * 43
TOO_EXPENSIVE: Final[Sequence[tuple[str, str]]] = (
    ("bcrypt", f"$2b$15${'A' * 53}"),
    ("bcrypt", f"$2b$31${'A' * 53}"),
    ("bcrypt", f"$2b$03${'A' * 53}"),
    ("argon2", f"$argon2id$v=19$m=4294967295,t=1,p=1${B22}${B43}"),
    ("argon2", f"$argon2id$v=19$m=262145,t=1,p=1${B22}${B43}"),
    ("argon2", f"$argon2id$v=19$m=65536,t=11,p=1${B22}${B43}"),
    ("argon2", f"$argon2id$v=19$m=65536,t=1,p=9${B22}${B43}"),
    ("argon2", f"$argon2id$v=19$m=65536,t=0,p=1${B22}${B43}"),
    ("pbkdf2", f"$pbkdf2-sha256$i=2000001,l=32${B22}${B43}"),
    ("pbkdf2", f"$pbkdf2-sha256$i=0,l=32${B22}${B43}"),
    # Two blocks of a million iterations and one more.
    ("pbkdf2", f"$pbkdf2-sha256$i=1000001${B22}${'A' * 64}"),
    ("pbkdf2", f"$pbkdf2-sha256$i=1000${B22}${'A' * 3000}"),
    ("phpass", f"$P$F{'A' * 30}"),
    ("phpass", f"$P$z{'A' * 30}"),
    ("wordpress", f"$wp$2y$15${'A' * 53}"),
    ("wordpress", f"$P$F{'A' * 30}"),
    ("django", f"pbkdf2_sha256$2000001$salt${B43}="),
    ("django", f"scrypt$1048576$salt$8$1${B43}="),
    ("django", f"scrypt$16385$salt$8$1${B43}="),
    ("django", f"scrypt$16384$salt$8$17${B43}="),
    ("django", f"scrypt$2$salt$999999999$1${B43}="),
    ("django", f"argon2$argon2id$v=19$m=262145,t=1,p=1${B22}${B43}"),
    ("django", f"bcrypt_sha256$$2b$15${'A' * 53}"),
    ("keycloak", f"$scrypt$ln=63,r=8,p=1${B22}${B43}"),
    ("auth0", f"$scrypt$ln=99,r=1,p=1${B22}${B43}"),
    ("firebase", "$firebase$ln=19,r=8$AA$AA$AA$AA"),
    ("firebase", "$firebase$ln=99,r=1$AA$AA$AA$AA"),
)


@pytest.mark.parametrize(("name", "text"), TOO_EXPENSIVE)
def test_an_expensive_hash_is_refused_before_it_is_computed(name: str, text: str) -> None:
    scheme, began = SCHEMES[name], time.process_time()
    with pytest.raises(HashRejected):
        scheme.verify(PASSWORD, text)
    with pytest.raises(HashRejected):
        scheme.parse({"hash": text})
    # Any of them would take seconds.
    assert time.process_time() - began < 0.5


EXPENSIVE_DESCRIBED: Final[Sequence[tuple[str, Json]]] = (
    ("firebase", {**FIREBASE, "memCost": 19}),
    ("firebase", {**FIREBASE, "memCost": 4096}),
    ("firebase", {**FIREBASE, "rounds": 10**9}),
    ("keycloak", keycloak("pbkdf2-sha256", bytes(32), 2_000_001)),
    ("keycloak", keycloak("argon2", bytes(32), 1, memory="262145", parallelism="1")),
    ("keycloak", keycloak("argon2", bytes(32), 11, memory="64", parallelism="1")),
    (
        "auth0",
        custom(
            "scrypt",
            hash={"value": "AAAAAAAAAAAAAAAA"},
            salt={"value": "salt"},
            keylen=12,
            cost=2**20,
            blockSize=8,
            parallelization=1,
        ),
    ),
)


@pytest.mark.parametrize(("name", "described"), EXPENSIVE_DESCRIBED)
def test_expensive_parameters_of_an_import_are_refused(name: str, described: Json) -> None:
    with pytest.raises(HashRejected):
        SCHEMES[name].parse(described)


def test_two_hundred_hostile_texts_are_refused_or_wrong_but_never_break_or_delay() -> None:
    """Texts whose digits and letters were changed at random."""
    generator, began = random.Random(20261123), time.process_time()
    bases = [text for _, text in TOO_EXPENSIVE]
    for _ in range(200):
        text = mutate(generator, generator.choice(bases))
        for scheme in SCHEMES.values():
            try:
                assert scheme.parse({"hash": text}).digest is None
            except HashRejected:
                continue
    assert time.process_time() - began < 5


def mutate(generator: random.Random, text: str) -> str:
    """Return a text with some of its characters replaced, removed or repeated."""
    characters = list(text)
    for _ in range(generator.randint(1, 4)):
        place = generator.randrange(len(characters))
        characters[place] = generator.choice(["", "9", "99999999999", "$", "=", ",", "\0", "密", "-"])
    return "".join(characters)
