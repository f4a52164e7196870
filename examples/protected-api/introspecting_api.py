"""An API that asks the server about each token. Run it with ``flask --app introspecting_api run``."""

import os
from typing import Any

import requests
from authlib.integrations.flask_oauth2 import ResourceProtector, current_token
from authlib.oauth2.rfc7662 import IntrospectTokenValidator
from flask import Flask

ISSUER = os.environ["ISSUER"]
RESOURCE = "https://wiki.example.com/api"
CREDENTIALS = (os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"])


class Validator(IntrospectTokenValidator):
    def introspect_token(self, token_string: str) -> Any:
        response = requests.post(
            f"{ISSUER}/oauth2/introspect", data={"token": token_string}, auth=CREDENTIALS, timeout=5
        )
        response.raise_for_status()
        report = response.json()
        # The client may also inspect tokens for itself, which are not for this API.
        return report if report.get("aud") == RESOURCE else {"active": False}


app = Flask(__name__)
require_token = ResourceProtector()
require_token.register_token_validator(Validator())


@app.get("/api/pages")
@require_token("pages:read")
def list_pages() -> dict[str, str]:
    return {"reader": current_token["sub"], "client": current_token["client_id"]}
