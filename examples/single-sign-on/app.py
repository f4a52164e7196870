"""Logs users in with Authlib. Run it with ``flask --app app run``."""

import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session, url_for
from werkzeug.wrappers import Response

app = Flask(__name__)
app.secret_key = os.environ["SECRET_KEY"]
oauth = OAuth(app)
provider = oauth.register(
    "strongroom",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{os.environ['ISSUER']}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email", "code_challenge_method": "S256"},
)


@app.get("/")
def home() -> Response | dict[str, str]:
    return session["user"] if "user" in session else redirect(url_for("log_in"))


@app.get("/login")
def log_in() -> Response:
    response: Response = provider.authorize_redirect(url_for("callback", _external=True))
    return response


@app.get("/callback")
def callback() -> Response:
    provider.authorize_access_token()
    session["user"] = dict(provider.userinfo())
    return redirect(url_for("home"))
