"""Mistakes in configurations of production, as operators make them, and what the answers say."""

from tests.support.config import Table
from tests.support.production import SECRET

MISSPELT = [
    ("port =", "prot =", 'server.prot: unknown key; did you mean "port"?'),
    ("[redis]", "[reddis]", 'reddis: unknown key; did you mean "redis"?'),
    ("root =", "rot =", 'storages.main.rot: unknown key; did you mean "root"?'),
    ('backend = "local"', 'backend = "locla"', 'did you mean "local"?; see plugins.enabled'),
    ('"login_sms"', '"login_smss"', 'plugins.enabled: plugin "login_smss" is not installed; '),
    ('methods = ["password"]', 'methods = ["pasword"]', "login.methods: no enabled plugin offers a lo"),
    ('provider = "image"', 'provider = "imgae"', "captcha.provider: no enabled plugin offers a capt"),
    ('email = ["smtp"]', 'email = ["smpt"]', "messages.email: no enabled plugin offers a message"),
    ("sms = []", 'sms = []\nlangage = "en"', 'messages.langage: unknown key; did you mean "language"?'),
    ('storage = "main"', 'storage = "mian"', "files.storage: there is no [storages.mian]; did you mean"),
]
BAD_VALUES = [
    ("port = 8001", "port = 70000", "server.port: must be from 0 to 65535"),
    ("port = 8001", 'port = "8001"', "server.port: must be a whole number"),
    ("port = 8001", "port = 8001\nworkers = 0", "server.workers: must be from 1 to 256"),
    ("port = 8001", 'port = 8001\nbase_path = "x/"', "server.base_path: must be like"),
    ("port = 8001", 'port = 8001\nhost = ""', "server.host: must be an IP address, such as "),
    ("port = 8001", 'port = 8001\nhost = "localhost"', "server.host: must be an IP address"),
    ("https://files.example.com", "https://x:99999", "server.public_url: must be like"),
    ("[files]", '[files]\nallowed_types = ["png"]', 'files.allowed_types: "png" is not like image/png'),
    ("[files]", f"[files]\ndefault_quota_bytes = {2**63}", "files.default_quota_bytes: must be at most"),
    ('mode = "production"', 'mode = "prod"', "server.mode: must be one of: development, production"),
    ('"HS256"', '"HS265"', "tokens.algorithm: must be one of: HS256, RS256"),
    ("[files]", "[files]\nmax_file_bytes = -1", "files.max_file_bytes: must be at least"),
    (
        "[tokens]",
        '[limits]\nlogin_per_address = ["5/hou"]\n[tokens]',
        "limits.login_per_address: entry 1",
    ),
    ("postgresql+psycopg://", "postgres://", "database.url: must begin with sqlite:/// or postgresql"),
    ('"redis://', '"memory://', "redis.url: must begin with redis://, rediss://, unix://"),
    (
        'sender = "Acme <no-reply@acme.org>"\n',
        "",
        "messages.smtp.sender: is required: the From header of",
    ),
    (
        "127.0.0.1/32",
        "10.1.2.3/8",
        'server.trusted_proxies: 10.1.2.3/8 has host bits set; did you mean "10.0.0.0/8"?',
    ),
    (
        "127.0.0.1/32",
        "the proxy",
        'does not appear to be an IPv4 or IPv6 network; write a network as "10.0.0.0/8", or an address',
    ),
]
UNSAFE = [
    ('url = "postgresql+psycopg://strongroom:hush@db.example.com/strongroom"', "", "database.url: must"),
    (f'secret_key = "{SECRET}"\n', "", "server.secret_key: must be set in production"),
    (SECRET, "changeme" * 5, "server.secret_key: is a published sample, or too simple; set at least 32"),
    ('\nkeys_file = "DIR/keys.json"', "", "tokens.keys_file: must be set in production"),
    (
        'public_url = "https://files.example.com"\n',
        "",
        'server.public_url: must be set in production, such as "https://example.com"',
    ),
    (
        "https://files",
        "http://files",
        'public_url: must begin with https:// in production, such as "https://files.example.com"',
    ),
    ("127.0.0.1/32", "0.0.0.0/0", "server.trusted_proxies: trusts X-Forwarded-For from every"),
    ('"image"', '"fixed"\nanswer = "42"', 'captcha.provider: "fixed" is for development only'),
    ('email = ["smtp"]', 'email = ["console"]', 'messages.email: "console" is for development only'),
    ('keys_file = "DIR/keys.json"', 'keys_file = "DIR/x"', "x does not exist; run: strongroom keys rot"),
    (
        '"HS256"',
        '"RS256"',
        "holds no key of RS256; correct tokens.algorithm, or run: strongroom keys rotate",
    ),
]

OTHER_PLUGINS = {
    "encrypted": ["storage_local", "storage_encrypted"],
    "s3": ["storage_local", "storage_s3"],
    "oss": ["storage_local", "storage_oss"],
    "shares": ["storage_local", "share_links"],
    "wechat": ["storage_local", "login_wechat"],
    "dingtalk": ["storage_local", "login_dingtalk"],
}


def enabled(name: str) -> Table:
    return {"plugins": {"enabled": OTHER_PLUGINS[name]}}


ALIYUN = {"access_key_id": "LT1", "access_key_secret": "hush", "sign_name": "Acme"}

MISTAKES: list[tuple[Table, str, str]] = [
    ({"server": {"threads": "many"}}, "server.threads", "must be a whole number"),
    ({"server": {"drain_seconds": -1}}, "server.drain_seconds", "must be from 0 to 600"),
    ({"server": {"http2": "yes"}}, "server.http2", "must be true or false"),
    ({"server": {"data_dir": 5}}, "server.data_dir", "must be a string"),
    (
        {"server": {"secret_key": "short"}},
        "server.secret_key",
        "or too simple; set at least 32 random",
    ),
    ({"server": {"cors_origins": ["*"]}}, "server.cors_origins", "list the exact origins"),
    (
        {"server": {"cors_origins": ["a.org"]}},
        "server.cors_origins",
        'like "https://app.example.com"',
    ),
    (
        {"server": {"cors_origins": "https://a.org"}},
        "server.cors_origins",
        'such as ["https://a.org"]',
    ),
    ({"server": {"trusted_proxies": "10.0.0.1"}}, "server.trusted_proxies", 'such as ["10.0.0.1"]'),
    ({"server": {"public_url": "https://a.org/x"}}, "server.public_url", "without a path"),
    (
        {"management": {"host": "everywhere"}},
        "management.host",
        'must be an IP address, such as "127',
    ),
    ({"management": {"port": -1}}, "management.port", "must be from 0 to 65535"),
    ({"logging": {"level": "verbose"}}, "logging.level", "one of: debug, info, warning, error"),
    (
        {"tracing": {"endpoint": "a:4318"}},
        "tracing.endpoint",
        'like "http://127.0.0.1:4318/v1/traces"',
    ),
    ({"tracing": {"sample_ratio": "5%"}}, "tracing.sample_ratio", "must be a number"),
    ({"database": {"timeout_seconds": 1}}, "database.timeout_seconds", "must be from 2 to 600"),
    (
        {"database": {"url": "mysql://u:hush@a/x"}},
        "database.url",
        "must begin with sqlite:/// or po",
    ),
    (
        {"database": {"url": "sqlite:///"}},
        "database.url",
        "names no file; write it as sqlite:////FOLDER",
    ),
    (
        {"database": {"url": "postgresql+psycopg://u:hush@a:hush/x"}},
        "database.url",
        "has an invalid host or port; write HOST:PORT",
    ),
    (
        {"database": {"url": "postgresql+psycopg://u:hush@a:1,b:99999/x"}},
        "database.url",
        "has an invalid host or port; write HOST:PORT",
    ),
    ({"redis": {"url": "127.0.0.1:6379"}}, "redis.url", "must begin with redis://, rediss://, unix://"),
    (
        {"redis": {"url": "redis://a:hush/0"}},
        "redis.url",
        "has an invalid host or port; write HOST:PORT",
    ),
    ({"redis": {"url": "redis://a/zero"}}, "redis.url", "the number of a database, such as /0"),
    (
        {"plugins": {"enabled": "storage_s3"}},
        "plugins.enabled",
        'must be a list, such as ["storage_s3"]',
    ),
    (
        {"plugins": {"enabled": ["login_sms"] * 2}},
        "plugins.enabled",
        "is enabled twice; list it once",
    ),
    (
        {"plugins": {"folder": "/nowhere"}},
        "plugins.folder",
        "name a folder that the server's user may",
    ),
    ({"plugins": {"webhooks": {}}}, "plugins.webhooks", "is not enabled; add it to plugins.enabled"),
    ({"plugins": {"login_smss": {}}}, "plugins.login_smss", "there is no plugin"),
    (
        enabled("shares") | {"plugins": {"share_links": {"pasword": 1}, **enabled("shares")["plugins"]}},
        "plugins.share_links.pasword",
        'did you mean "password"?',
    ),
    (
        {"storages": {"main": {"backend": "s3"}}},
        "storages.main.backend",
        'add "storage_s3" to plugins.e',
    ),
    ({"storages": {"main": {"root": 5}}}, "storages.main.root", "must be a string"),
    (
        {"storages": {"main": {"downloads": "nginx"}}},
        "storages.main.downloads",
        "one of: server, redi",
    ),
    (
        {"storages": {"old": {"root": "/x"}}},
        "storages.old.backend",
        "is required: the name of a regis",
    ),
    (
        enabled("encrypted") | {"storages": {"safe": {"backend": "encrypted"}}},
        "storages.safe.over",
        '"encrypted" wraps another storage; name it',
    ),
    (
        enabled("encrypted") | {"storages": {"safe": {"backend": "encrypted", "over": "mian"}}},
        "storages.safe.over",
        'did you mean "main"?',
    ),
    (
        enabled("s3") | {"storages": {"s": {"backend": "s3"}}},
        "storages.s.bucket",
        "is required: ",
    ),
    (
        enabled("s3") | {"storages": {"s": {"backend": "s3", "bucket": "b", "endpoint_url": "a.org"}}},
        "storages.s.endpoint_url",
        'must be a URL, such as "https://s3.example.com"',
    ),
    (
        enabled("oss")
        | {"storages": {"s": {"backend": "oss", "bucket": "b", "region": "r", "access_key_id": "i"}}},
        "storages.s.access_key_secret",
        "is required: ",
    ),
    ({"keys": {"provider": "vault"}}, "keys.provider", "known here: file"),
    ({"tenants": {"add_members": "ask"}}, "tenants.add_members", "one of: at-once, invited"),
    ({"tenants": {"invitation_days": 0}}, "tenants.invitation_days", "must be from 1 to 90"),
    ({"events": {"retention_days": "30 days"}}, "events.retention_days", "must be a whole number"),
    ({"files": {"allowed_types": "image/png"}}, "files.allowed_types", 'such as ["image/png"]'),
    ({"files": {"max_file_bytes": "64 GiB"}}, "files.max_file_bytes", "must be a whole number"),
    ({"files": {"versions": 20}}, "files.versions", "must be a table"),
    ({"files": {"trash": {"enabled": "on"}}}, "files.trash.enabled", "must be true or false"),
    (
        {"files": {"retention": {"mode": "strict"}}},
        "files.retention.mode",
        "one of: governance, compl",
    ),
    ({"business_files": {"avatar": {}}}, "business_files.avatar", 'did you mean "avatars"?'),
    (
        {"business_files": {"photos": {"widths": [0]}}},
        "business_files.photos.widths",
        "from 1 to 16383",
    ),
    (
        {"scanning": {"scanners": ["clamd"]}},
        "scanning.scanners",
        'add "scan_clamd" to plugins.enabled',
    ),
    ({"scanning": {"clamd": {}}}, "scanning.clamd", 'add "scan_clamd" to plugins.enabled'),
    ({"users": {"registration": "on"}}, "users.registration", "one of: open, invited, closed"),
    ({"login": {"methods": ["wechat"]}}, "login.methods", 'add "login_wechat" to plugins.enabled'),
    (enabled("wechat") | {"login": {"methods": ["wechat"]}}, "login.wechat.apps", "is required: "),
    (enabled("dingtalk") | {"login": {"methods": ["dingtalk"]}}, "login.dingtalk.apps", "is required: "),
    ({"passwords": {"bcrypt_cost": 2}}, "passwords.bcrypt_cost", "must be from 4 to 18"),
    (
        {"second_factors": {"methods": ["totp"]}},
        "second_factors.methods",
        'add "factor_totp" to plug',
    ),
    (
        {"second_factors": {"required_for": ["x"]}},
        "second_factors.required_for",
        "all, admin, tenant-",
    ),
    (
        {"second_factors": {"required_for": ["all"]}},
        "second_factors.required_for",
        "enable a plugin",
    ),
    ({"captcha": {"provider": "fixed"}}, "captcha.answer", "is required: "),
    ({"captcha": {"pages_provider": "imgae"}}, "captcha.pages_provider", "no enabled plugin offers a"),
    ({"captcha": {"pages_provider": "fixed"}}, "captcha.pages_provider", "has keys without defaults"),
    ({"captcha": {"answer": "42"}}, "captcha.answer", "unknown key; known here: audio, length"),
    ({"messages": {"sms": ["smtp"]}}, "messages.sms", '"smtp" does not serve sms; it serves: email'),
    ({"messages": {"language": "xx"}}, "messages.language", "must be one of: en, zh"),
    (
        {"messages": {"templates_dir": "/nowhere"}},
        "messages.templates_dir",
        "name a folder that the s",
    ),
    (
        {"messages": {"telegram": {}}},
        "messages.telegram",
        "known here: aliyun_sms, console, http_sms",
    ),
    (
        {"messages": {"smtp": {"host": ""}}},
        "messages.smtp.host",
        "must be a host name or an address",
    ),
    ({"messages": {"smtp": {"host": "a.org:25"}}}, "messages.smtp.host", "its port has its own key"),
    (
        {"messages": {"smtp": {"sender": "Acme"}}},
        "messages.smtp.sender",
        'such as "Acme <no-reply@acme',
    ),
    ({"messages": {"smtp": {"username": "a"}}}, "messages.smtp.password", "together with username"),
    (
        {"messages": {"smtp": {"encryption": "ssl"}}},
        "messages.smtp.encryption",
        "starttls, tls, none",
    ),
    ({"limits": {"login_per_address": "5/hour"}}, "limits.login_per_address", 'such as ["5/hour"]'),
    # What `strongroom init` and the example for Kubernetes write.
    (
        {"messages": {"smtp": {"host": "mail.example.com"}}},
        "messages.smtp.host",
        "is the sample value",
    ),
    (
        {"messages": {"smtp": {"sender": "Example <no-reply@example.com>"}}},
        "messages.smtp.sender",
        "is the sample value of a template; set the value of your own",
    ),
    (
        {"messages": {"aliyun_sms": ALIYUN | {"sign_name": "Example"}}},
        "messages.aliyun_sms.sign_name",
        "is the sample value of a template; set the value of your own",
    ),
    (
        {"messages": {"aliyun_sms": ALIYUN | {"templates": {"login": "SMS_1"}}}},
        "messages.aliyun_sms.templates.login",
        "is the sample value of a template; set the value of your own",
    ),
]
