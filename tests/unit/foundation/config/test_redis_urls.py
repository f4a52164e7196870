"""URLs of Redis: every form, and what is wrong with those that are refused."""

import pytest

from strongroom.foundation.config.redis_urls import RedisAddress, RedisKind
from strongroom.foundation.config.server_settings import RedisSettings


def test_one_server() -> None:
    address = RedisAddress.parse("redis://al%40ice:p%2Fw@cache.example.com/3")
    assert (address.kind, address.hosts, address.database) == (
        RedisKind.SERVER,
        (("cache.example.com", 6379),),
        3,
    )
    assert address.login == {"username": "al@ice", "password": "p/w"}
    assert (address.tls, address.replicas) == (None, 0)
    assert "p/w" not in repr(address)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("valkey://h:1/2", "redis://h:1/2"),
        ("valkeys://h:1/2", "rediss://h:1/2"),
        ("valkey+sentinel://h:1/x", "redis+sentinel://h:1/x"),
        ("valkeys+cluster://h:1", "rediss+cluster://h:1"),
        ("redis://h:6379/0", "redis://h"),
        ("redis://h?db=4", "redis://h/4"),
    ],
)
def test_forms_that_mean_the_same(url: str, same: str) -> None:
    assert RedisAddress.parse(url) == RedisAddress.parse(same)


def test_a_socket() -> None:
    address = RedisAddress.parse("unix://:hush@/run/redis/redis.sock?db=2")
    assert (address.kind, address.path, address.database) == (
        RedisKind.SOCKET,
        "/run/redis/redis.sock",
        2,
    )
    assert address.login == {"password": "hush"}
    assert str(address) == "/run/redis/redis.sock"


def test_sentinels() -> None:
    address = RedisAddress.parse(
        "rediss+sentinel://app:hush@s1,[::1]:26380/limits/1?sentinel_username=s&sentinel_password=h%26"
        "&ssl_ca_certs=/ca.pem&replicas=2"
    )
    assert (address.kind, address.service, address.database) == (RedisKind.SENTINEL, "limits", 1)
    assert str(address) == "s1:26379, [::1]:26380"
    assert address.login == {"username": "app", "password": "hush"}
    assert address.sentinel_login == {"username": "s", "password": "h&"}
    assert address.tls == {"ssl_ca_certs": "/ca.pem", "ssl_check_hostname": True}
    assert address.replicas == 2


def test_a_cluster() -> None:
    address = RedisAddress.parse("rediss+cluster://a:1,b:2?ssl_check_hostname=false")
    assert (address.kind, address.hosts) == (RedisKind.CLUSTER, (("a", 1), ("b", 2)))
    assert address.tls == {"ssl_check_hostname": False}


@pytest.mark.parametrize(
    ("url", "replicas"),
    [
        ("redis://a", 0),
        ("redis+sentinel://a/x", 1),
        ("redis+cluster://a", 1),
        ("redis://a?replicas=3", 3),
    ],
)
def test_replicas_that_must_acknowledge(url: str, replicas: int) -> None:
    assert RedisAddress.parse(url).replicas == replicas


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("redis-sentinel://a/x", "must begin with redis://, rediss://, unix://, redis+sentinel://"),
        ("redis:a", "must begin with redis://"),
        ("redis://a:hush/0", "has an invalid host or port; write HOST:PORT"),
        ("redis://a:70000", "has an invalid host or port"),
        ("redis://:hu#sh@a", "has an invalid host or port; write HOST:PORT, and a password with %"),
        ("redis://:a?hush@b/0", "has an invalid host or port; write HOST:PORT, and a password with %"),
        ("redis:///0", "has an invalid host or port"),
        ("redis://a:1,b:2/0", "has several hosts; write redis+sentinel:// or redis+cluster://"),
        ("redis://a/zero", "must end with the number of a database, such as /0"),
        ("redis+sentinel://a:1/limits/x", "must end with the number of a database, such as /0"),
        ("redis+sentinel://a:1", "names no service; write it after the Sentinels: /SERVICE/0"),
        ("redis+cluster://a:1/2", "must end with /0 or nothing: a cluster has one database"),
        ("unix://", "names no socket; write unix:///PATH?db=0"),
        ("unix://run/redis.sock", "names no socket; write unix:///PATH?db=0"),
        ("rediss://a?ssl_ca_cert=/x", 'unknown option "ssl_ca_cert"; did you mean "ssl_ca_certs"?'),
        ("redis://a?sentinel_password=hush", 'unknown option "sentinel_password"; known here: db, '),
        ("redis://a?ssl_ca_certs=/x", "ssl_ca_certs needs TLS; write rediss://"),
        ("valkey+sentinel://a/x?ssl_keyfile=/x", "ssl_keyfile needs TLS; write valkeys+sentinel://"),
        ("rediss://a?ssl_certfile=/x", "ssl_certfile and ssl_keyfile need each other"),
        ("rediss://a?ssl_check_hostname=no", "ssl_check_hostname must be true or false"),
        ("redis://a?replicas=two", "replicas must be a number, such as replicas=1"),
        ("redis://a?db=1&db=2", "names an option twice"),
        ("redis://a?db=", "db is empty; write ?db=VALUE"),
    ],
)
def test_a_refused_url_says_what_would_be_right(url: str, message: str) -> None:
    with pytest.raises(ValueError, match="url: ") as refusal:
        RedisSettings(url)
    assert str(refusal.value).startswith(f"url: {message}")
    assert "hush" not in str(refusal.value)
