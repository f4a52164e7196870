"""An API that verifies access tokens by the keys of the server. Run it with ``flask --app api run``."""

import os
import time
from functools import lru_cache
from typing import Any

import requests
from authlib.integrations.flask_oauth2 import ResourceProtector, current_token
from authlib.oauth2.rfc9068 import JWTBearerTokenValidator
from flask import Flask

ISSUER = os.environ["ISSUER"]
RESOURCE = "https://wiki.example.com/api"


@lru_cache(maxsize=1)
def fetch_keys(_period: int) -> Any:
    response = requests.get(f"{ISSUER}/.well-known/jwks.json", timeout=5)
    response.raise_for_status()
    return response.json()


class Validator(JWTBearerTokenValidator):
    def get_jwks(self) -> Any:
        # Fetched again every five minutes, so that removed keys are no longer accepted.
        return fetch_keys(int(time.time()) // 300)


app = Flask(__name__)
require_token = ResourceProtector()
require_token.register_token_validator(Validator(ISSUER, RESOURCE))


@app.get("/api/pages")
@require_token("pages:read")
def list_pages() -> dict[str, str]:
    return {"reader": current_token["sub"], "client": current_token["client_id"]}
