"""The most probable mistakes of a deployer, and the answer to each: the table of the docs.

``written`` is what the deployer writes: keys of the file, ``without KEY``, or a variable. Words in
capitals stand for what differs between runs: the folder DIR, and the addresses of servers that run.
"""

from dataclasses import dataclass

FINE, WRONG, AWAY = 0, 2, 3


@dataclass(frozen=True)
class Mistake:
    """A mistake and its answer.

    Args:
        title: what the deployer has done.
        written: the wrong part of the configuration.
        answer: the line of the answer, without the origin of the value.
        status: the exit status of ``strongroom config check``.
    """

    title: str
    written: str
    answer: str
    status: int = WRONG


MISTAKES = [
    Mistake(
        "The file is missing",
        "no strongroom.toml",
        "cannot be read: No such file or directory; name another by --config or STRONGROOM_CONFIG",
    ),
    Mistake(
        "A text without quotes",
        "server.public_url = https://files.acme.org",
        "server.public_url: is not TOML: Invalid value (at line 1, column 21); write KEY = "
        'VALUE, with a text in "quotes"',
    ),
    Mistake(
        "A key set twice",
        'pages.name = "Acme"\npages.name = "ACME"',
        "pages.name: is not TOML: Cannot overwrite a value (at line 2, column 20); a key is "
        "set twice; remove one of the two",
    ),
    Mistake(
        "A section misspelt",
        '[databse]\nurl = "sqlite:////srv/strongroom.sqlite3"',
        'databse: unknown key; did you mean "database"?',
    ),
    Mistake(
        "A key misspelt",
        "server.prot = 8001",
        'server.prot: unknown key; did you mean "port"?',
    ),
    Mistake(
        "A key of a sender misspelt",
        'messages.smtp.passwrod = "hush"',
        'messages.smtp.passwrod: unknown key; did you mean "password"?',
    ),
    Mistake(
        "A variable with single underscores",
        "STRONGROOM_SERVER_PORT=8001",
        "is not read, because sections and keys are separated by two underscores; did you "
        'mean "STRONGROOM__SERVER__PORT"?',
    ),
    Mistake(
        "A variable misspelt",
        "STRONGROOM__SERVER__PROT=8001",
        'server.prot: unknown key; did you mean "port"?',
    ),
    Mistake(
        "The file of a secret is missing",
        "STRONGROOM__SERVER__SECRET_KEY_FILE=DIR/nowhere",
        "DIR/nowhere: cannot be read: No such file or directory; name a file that the "
        "server's user may read",
    ),
    Mistake(
        "The file of a secret is empty",
        "STRONGROOM__SERVER__SECRET_KEY_FILE=DIR/empty",
        "server.secret_key: is a published sample, or too simple; set at least 32 random "
        "characters, from a file by STRONGROOM__SERVER__SECRET_KEY_FILE",
    ),
    Mistake(
        "A number in quotes",
        'server.port = "8001"',
        "server.port: must be a whole number, without quotes: 8001",
    ),
    Mistake(
        "A size with its unit",
        'files.max_file_bytes = "5GB"',
        "files.max_file_bytes: must be a whole number of bytes, without quotes and unit",
    ),
    Mistake(
        "A duration with its unit",
        'tokens.lifetime_seconds = "30m"',
        "tokens.lifetime_seconds: must be a whole number of seconds, without quotes and unit",
    ),
    Mistake(
        "A negative number",
        "files.default_quota_bytes = -1",
        "files.default_quota_bytes: must be at least 0",
    ),
    Mistake(
        "A port out of range",
        "server.port = 80800",
        "server.port: must be from 0 to 65535",
    ),
    Mistake(
        "No workers",
        "server.workers = 0",
        "server.workers: must be from 1 to 256",
    ),
    Mistake(
        "A host name to listen on",
        'server.host = "files.acme.org"',
        'server.host: must be an IP address, such as "127.0.0.1" or "0.0.0.0"',
    ),
    Mistake(
        "A public URL without its scheme",
        'server.public_url = "files.acme.org"',
        'server.public_url: must be like "https://example.com", without a path',
    ),
    Mistake(
        "A public URL with a path",
        'server.public_url = "https://acme.org/files"',
        'server.public_url: must be like "https://example.com", without a path',
    ),
    Mistake(
        "A public URL without TLS",
        'server.public_url = "http://files.acme.org"',
        "server.public_url: must begin with https:// in production, such as "
        '"https://files.acme.org", to protect tokens in transit',
    ),
    Mistake(
        "Each client is a trusted proxy",
        'server.trusted_proxies = ["0.0.0.0/0"]',
        "server.trusted_proxies: trusts X-Forwarded-For from every client; list the networks "
        "of the proxies",
    ),
    Mistake(
        "The name of a proxy",
        'server.trusted_proxies = ["nginx"]',
        "server.trusted_proxies: 'nginx' does not appear to be an IPv4 or IPv6 network; "
        'write a network as "10.0.0.0/8", or an address as "10.0.0.1"',
    ),
    Mistake(
        "An origin with a slash",
        'server.cors_origins = ["https://app.acme.org/"]',
        'server.cors_origins: "https://app.acme.org/" must be like '
        '"https://app.example.com": lower case, no path',
    ),
    Mistake(
        "No secret key",
        "without server.secret_key",
        "server.secret_key: must be set in production: at least 32 random characters, from a "
        "file by STRONGROOM__SERVER__SECRET_KEY_FILE",
    ),
    Mistake(
        "The secret key of an example",
        'server.secret_key = "change-me-change-me-change-me-change-me"',
        "server.secret_key: is a published sample, or too simple; set at least 32 random "
        "characters, from a file by STRONGROOM__SERVER__SECRET_KEY_FILE",
    ),
    Mistake(
        "The port is in use",
        "server.port = TAKEN",
        "server.port: cannot listen on 127.0.0.1:TAKEN: Address already in use; free it, or "
        "configure another port",
    ),
    Mistake(
        "The URL of another driver",
        'database.url = "postgres://strongroom:hush@127.0.0.1/strongroom"',
        "database.url: must begin with sqlite:/// or postgresql+psycopg://",
    ),
    Mistake(
        "A relative file of SQLite",
        'database.url = "sqlite:///strongroom.sqlite3"',
        "database.url: is relative to the folder of each start; write it as "
        "sqlite:////FOLDER/strongroom.sqlite3",
    ),
    Mistake(
        "sslmode misspelt",
        'database.url = "POSTGRES&sslmode=requird"',
        'database.url: a parameter is wrong: invalid sslmode value: "requird"; correct it in '
        "database.url",
    ),
    Mistake(
        "An option of PostgreSQL misspelt",
        'database.url = "POSTGRES&ssl_mode=require"',
        'database.url: a parameter is wrong: invalid connection option "ssl_mode"; correct '
        "it in database.url",
    ),
    Mistake(
        "A setting of PostgreSQL misspelt",
        'database.url = "POSTGRES&options=-c%20statement_timeot%3D30s"',
        "database.url: a parameter is wrong: unrecognized configuration parameter "
        '"statement_timeot"; correct it in database.url',
    ),
    Mistake(
        "The port of one of several hosts",
        'database.url = "postgresql+psycopg://strongroom:hush@db1:5432,db2:543Z/strongroom"',
        "database.url: has an invalid host or port; write HOST:PORT, and a password with % encodings",
    ),
    Mistake(
        "None of several hosts answers",
        'database.url = "postgresql+psycopg://strongroom:hush@127.0.0.1:1,127.0.0.1:2/strongroom"',
        "database.url: PostgreSQL at 127.0.0.1:1 and 127.0.0.1:2 does not answer: Connection "
        "refused; start it, or correct the host and port in database.url",
        3,
    ),
    Mistake(
        "A wrong user of the database",
        'database.url = "STRANGER"',
        'database.url: PostgreSQL at SOCKETS:5432 refuses the user "stranger": role '
        '"stranger" does not exist; correct the user or the password in database.url',
    ),
    Mistake(
        "A database that does not exist",
        'database.url = "NODATABASE"',
        'database.url: PostgreSQL at SOCKETS:5432 answers, but database "strongrooms" does '
        "not exist; create the database, or correct its name in database.url",
    ),
    Mistake(
        "The database is a standby",
        'database.url = "STANDBY"',
        "database.url: PostgreSQL at SOCKETS:5433 is in recovery: it is a standby, which "
        "refuses writes; name the primary in database.url, or all hosts, as "
        "?host=HOST:PORT&host=HOST:PORT",
        AWAY,
    ),
    Mistake(
        "A replica of another kind of database",
        'database.replica_url = "POSTGRES"',
        "database.replica_url: needs PostgreSQL in database.url",
    ),
    Mistake(
        "The replica is the primary",
        'database = { url = "POSTGRES", replica_url = "POSTGRES" }',
        "database.replica_url: is no standby; name a streaming standby of database.url",
        3,
    ),
    Mistake(
        "The replica is unavailable",
        'database = { url = "POSTGRES", replica_url = '
        '"postgresql+psycopg://strongroom:hush@127.0.0.1:1/strongroom" }',
        "database.replica_url: PostgreSQL at 127.0.0.1:1 does not answer: Connection refused; "
        "start it, or correct the host and port in database.replica_url",
        3,
    ),
    Mistake(
        "The database is unavailable",
        'database.url = "postgresql+psycopg://strongroom:hush@127.0.0.1:1/strongroom"',
        "database.url: PostgreSQL at 127.0.0.1:1 does not answer: Connection refused; start "
        "it, or correct the host and port in database.url",
        AWAY,
    ),
    Mistake(
        "The schema is not installed",
        'database.url = "sqlite:///DIR/new.sqlite3"',
        "database.url: the schema is empty, not REVISION; run: strongroom db upgrade",
    ),
    Mistake(
        "Redis by another scheme",
        'redis.url = "http://127.0.0.1:6379"',
        "redis.url: must begin with redis://, rediss://, unix://, redis+sentinel:// or "
        "redis+cluster://, or with valkey instead of redis",
    ),
    Mistake(
        "Sentinels without a service",
        'redis.url = "redis+sentinel://s1.example.com,s2.example.com"',
        "redis.url: names no service; write it after the Sentinels: /SERVICE/0",
    ),
    Mistake(
        "A misspelt option of Redis",
        'redis.url = "rediss://127.0.0.1/0?ssl_ca_cert=/etc/ca.pem"',
        'redis.url: unknown option "ssl_ca_cert"; did you mean "ssl_ca_certs"?',
    ),
    Mistake(
        "Redis is unavailable",
        'redis.url = "redis://127.0.0.1:1/0"',
        "redis.url: Redis at 127.0.0.1:1 does not answer, and without it logins are refused; "
        "start it, or correct redis.url",
        AWAY,
    ),
    Mistake(
        "A wrong password of Redis",
        'redis.url = "redis://:hush@REDIS/0"',
        "redis.url: Redis at REDIS refuses the login: AUTH <password> called without any "
        "password configured for the default user. Are you sure your configuration is "
        "correct?, and without it logins are refused; correct the user or the password in "
        "redis.url",
    ),
    Mistake(
        "A plugin misspelt",
        'plugins.enabled = ["storage_local", "login_smss"]',
        'plugins.enabled: plugin "login_smss" is not installed; pip install '
        'strongroom-login-smss, or did you mean "login_sms"?',
    ),
    Mistake(
        "A backend whose plugin is not enabled",
        'storages.archive.backend = "s3"',
        'storages.archive.backend: no enabled plugin offers a storage backend "s3"; add '
        '"storage_s3" to plugins.enabled',
    ),
    Mistake(
        "A relative folder",
        'storages.main.root = "files"',
        "storages.main.root: is relative to the folder of each start; write it as an "
        'absolute path, such as "/srv/strongroom/files"',
    ),
    Mistake(
        "A folder that cannot be created",
        'storages.main.root = "/dev/null/files"',
        "storages.main.root: cannot be used: /dev/null: Not a directory; name a folder that "
        "can be created",
    ),
    Mistake(
        "A bucket that does not exist",
        'plugins.enabled = ["storage_local", "storage_s3"]\nstorages.archive = { backend = '
        '"s3", bucket = "filez", endpoint_url = "ENDPOINT", region = "us-east-1", '
        'access_key_id = "key", secret_access_key = "hush", addressing_style = "path" }',
        "storages.archive.bucket: does not exist; create it, or correct its name (NoSuchBucket)",
    ),
    Mistake(
        "A wrong access key of S3",
        'plugins.enabled = ["storage_local", "storage_s3"]\nstorages.archive = { backend = '
        '"s3", bucket = "files", endpoint_url = "GUARDED", region = "us-east-1", '
        'access_key_id = "key", secret_access_key = "hush", addressing_style = "path" }',
        "storages.archive.access_key_id: is unknown to the store; correct it (InvalidAccessKeyId)",
    ),
    Mistake(
        "S3 is unavailable",
        'plugins.enabled = ["storage_local", "storage_s3"]\nstorages.archive = { backend = '
        '"s3", bucket = "files", endpoint_url = "http://127.0.0.1:1", region = "us-east-1", '
        'access_key_id = "key", secret_access_key = "hush", addressing_style = "path" }',
        "storages.archive: cannot store files now: Could not connect to the endpoint URL: "
        '"http://127.0.0.1:1/files/00/00/00000000000000000000000000000001"; start the store, '
        "or correct its options",
        AWAY,
    ),
    Mistake(
        "Encryption without master keys",
        'plugins.enabled = ["storage_local", "storage_encrypted"]\nstorages.safe = { backend '
        '= "encrypted", over = "main" }',
        "cannot be opened: DIR/data/master-keys.json does not exist; restore it, or run: "
        "strongroom keys create-master-key",
    ),
    Mistake(
        "A master key of the wrong length",
        'plugins.enabled = ["storage_local", "storage_encrypted"]\nstorages.safe = { backend '
        '= "encrypted", over = "main" }\nkeys.path = "DIR/short-key.json"',
        "keys: cannot be opened: DIR/short-key.json is no file of master keys: a key does "
        "not match its id; restore it, or correct keys.path",
    ),
    Mistake(
        "Refresh tokens end before access tokens",
        "tokens.refresh_lifetime_seconds = 600",
        "tokens.refresh_lifetime_seconds: must be at least the lifetime of access tokens, "
        "tokens.lifetime_seconds = 1800",
    ),
    Mistake(
        "Signing keys of another algorithm",
        'tokens.algorithm = "RS256"',
        "tokens.keys_file: DIR/keys.json holds no key of RS256; correct "
        "tokens.algorithm, or run: strongroom keys rotate",
    ),
    Mistake(
        "Access keys beyond their maximum",
        "access_keys.default_lifetime_days = 400",
        "access_keys.default_lifetime_days: must be at most access_keys.max_lifetime_days = 366",
    ),
    Mistake(
        "A login method without its plugin",
        'login.methods = ["password", "wechat"]',
        'login.methods: no enabled plugin offers a login method "wechat"; add "login_wechat" '
        "to plugins.enabled",
    ),
    Mistake(
        "Codes by SMS without a sender",
        'login.methods = ["password", "sms"]',
        'login.methods: "sms" needs a sender of codes; name one in messages.sms',
    ),
    Mistake(
        "A provider without TLS",
        'plugins.enabled = ["storage_local", "login_oidc"]\nlogin.methods = ["password", '
        '"oidc"]\nlogin.oidc.providers.acme = { issuer = "http://id.acme.org", client_id = '
        '"strongroom", client_secret = "hush" }',
        "login.oidc.providers: acme.issuer must begin with https://; see allow_insecure_loopback",
    ),
    Mistake(
        "The discovery URL of a provider",
        'plugins.enabled = ["storage_local", "login_oidc"]\nlogin.methods = ["password", '
        '"oidc"]\nlogin.oidc.providers.acme = { issuer = '
        '"https://id.acme.org/.well-known/openid-configuration", client_id = "strongroom", '
        'client_secret = "hush" }',
        'login.oidc.providers.acme.issuer: must end before /.well-known/, such as "https://id.acme.org"',
    ),
    Mistake(
        "A provider without a client secret",
        'plugins.enabled = ["storage_local", "login_oidc"]\nlogin.methods = ["password", '
        '"oidc"]\nlogin.oidc.providers.acme = { issuer = "https://id.acme.org", client_id = '
        '"strongroom" }',
        "login.oidc.providers.acme.client_secret: is required for client_secret_basic; set it",
    ),
    Mistake(
        "Mail in plain text",
        'messages.smtp.encryption = "none"',
        'messages.smtp.encryption: "none" sends codes and links to mail.acme.org '
        'unencrypted; set "starttls" or "tls", or for a relay in a private network '
        "allow_plaintext = true",
    ),
    Mistake(
        "TLS on the port of STARTTLS",
        'messages.smtp.encryption = "tls"',
        'messages.smtp.encryption: port 587 takes "starttls"; set it',
    ),
    Mistake(
        "STARTTLS on the port of TLS",
        "messages.smtp.port = 465",
        'messages.smtp.encryption: port 465 takes "tls"; set it',
    ),
    Mistake(
        "A mail server with its port",
        'messages.smtp.host = "mail.acme.org:587"',
        "messages.smtp.host: must be a host name or an address alone; its port has its own key",
    ),
    Mistake(
        "A mail user without a password",
        'messages.smtp.username = "strongroom"',
        "messages.smtp.password: must be set together with username",
    ),
    Mistake(
        "A missing file of certificates",
        'messages.smtp.ca_file = "/nowhere.pem"',
        "messages.smtp.ca_file: /nowhere.pem does not exist; name a file in PEM format",
    ),
    Mistake(
        "Mail to the console",
        'messages.email = ["console"]',
        'messages.email: "console" is for development only; [] sends none',
    ),
    Mistake(
        "A missing folder of texts",
        'messages.templates_dir = "/nowhere"',
        "messages.templates_dir: /nowhere: cannot be read: No such file or directory; name a "
        "folder that the server's user may read",
    ),
    Mistake(
        "A missing logo",
        'pages.logo = "/nowhere.png"',
        "pages.logo: /nowhere.png cannot be read: No such file or directory; name a readable file",
    ),
    Mistake(
        "A colour without its number",
        'pages.primary = "bluish"',
        'pages.primary: must be a colour such as "#1456b8"',
    ),
    Mistake(
        "A captcha for tests",
        'captcha.provider = "fixed"\ncaptcha.answer = "42"',
        'captcha.provider: "fixed" is for development only; production needs another',
    ),
    Mistake(
        "A rate in words",
        'limits.login_per_address = ["5 per hour"]',
        'limits.login_per_address: entry 1 must be like "5/hour": a number, then /second, '
        "/minute, /hour or /day",
    ),
]
"""The mistakes that ``strongroom config check`` finds."""

DOCTOR = [
    Mistake(
        "The mail server is unavailable",
        'messages.smtp = { host = "127.0.0.1", port = 1, encryption = "none" }',
        "messages.smtp: not sent: the mail server cannot be reached at 127.0.0.1:1, none: "
        "Connection refused; correct [messages.smtp]",
        FINE,
    ),
    Mistake(
        "The virus scanner is unavailable",
        'plugins.enabled = ["storage_local", "scan_clamd", "login_oidc"]\nscanning.scanners '
        '= ["clamd"]\nscanning.clamd.socket = "/nowhere.ctl"',
        "scanning.clamd: is unavailable: clamd: No such file or directory; start its "
        "service, or correct [scanning.clamd]; until then, new files are held back",
        FINE,
    ),
    Mistake(
        "The provider of logins is unavailable",
        'plugins.enabled = ["storage_local", "scan_clamd", "login_oidc"]\nlogin.methods = '
        '["password", "oidc"]\nlogin.oidc.providers.acme = { issuer = "https://127.0.0.1:1", '
        'client_id = "strongroom", client_secret = "hush" }',
        "login.oidc: provider acme: 127.0.0.1 did not answer for its discovery document: "
        "ConnectionError; see [login.oidc]; until then, logins by it fail",
        FINE,
    ),
    Mistake(
        "The disk is too small",
        "storages.main.reserve_bytes = 1000000000000000",
        "storages.main: is full: less than 1000000000000000 bytes would stay free; free "
        "space; until then, uploads are refused",
        FINE,
    ),
]
"""The mistakes that do not prevent a start: ``strongroom doctor --send-to ADDRESS`` finds them."""
