"""The page on which a tester chooses the person who agrees, or refuses."""

from collections.abc import Mapping
from http import HTTPStatus

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.oidc_providers.provider import Provider
from strongroom_simulators.oidc_providers.refusals import PageRefusal, Reason, Refusal
from strongroom_simulators.platform_app import redirect_with


def authorization_page(provider: Provider) -> Blueprint:
    """Return the routes of the authorization endpoint (RFC 6749, 3.1)."""
    routes = Blueprint("authorization", __name__)

    @routes.errorhandler(PageRefusal)
    def show_problem(refusal: PageRefusal) -> ResponseReturnValue:
        page = render_template("problem.html", problem=str(refusal))
        return page, HTTPStatus.BAD_REQUEST

    @routes.get(provider.authorize_path)
    def show() -> ResponseReturnValue:
        query = request.args.to_dict()
        provider.authorization_client(query)
        try:
            provider.check_authorization(query)
        except Refusal as refusal:
            return _back(provider, query, provider.denial(refusal.reason))
        return _page(provider)

    @routes.post(provider.authorize_path)
    def decide() -> ResponseReturnValue:
        query = request.args.to_dict()
        provider.authorization_client(query)
        try:
            return _decision(provider, query)
        except Refusal as refusal:
            return _back(provider, query, provider.denial(refusal.reason))

    return routes


def _decision(provider: Provider, query: Mapping[str, str]) -> ResponseReturnValue:
    provider.check_authorization(query)
    if request.form.get("decision") != "confirm":
        raise Refusal(Reason.ACCESS_DENIED)
    person = provider.people.get(request.form.get("person", ""))
    if person is None:
        return _page(provider, problem="Choose a person."), HTTPStatus.BAD_REQUEST
    return _back(provider, query, provider.approve(query, person))


def _page(provider: Provider, problem: str | None = None) -> str:
    return render_template(
        "choose.html",
        provider=provider,
        client=request.args["client_id"],
        people=provider.people.values(),
        action=request.full_path,
        problem=problem,
    )


def _back(
    provider: Provider, query: Mapping[str, str], parameters: dict[str, str]
) -> ResponseReturnValue:
    target = query["redirect_uri"]
    answer = provider.redirect_parameters(query, parameters)
    if query.get("response_mode") == "form_post":
        # OAuth 2.0 Form Post Response Mode, 2: a page whose form is sent to the client.
        return render_template("form_post.html", provider=provider, target=target, answer=answer)
    return redirect_with(target, answer)
