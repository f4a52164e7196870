"""The pages that begin a login, on which a tester chooses the person who confirms it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Generic, TypeVar

import segno
from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.platform_app import redirect_back

PlatformT = TypeVar("PlatformT")


class ChoicePage(ABC, Generic[PlatformT]):
    """The page of a platform. Its template gets its :meth:`values`."""

    paths: ClassVar[tuple[str, ...]]
    template: ClassVar[str] = "choice.html"

    choose: ClassVar[str] = "Choose a person."
    """The message if no person is chosen."""

    name_member: ClassVar[str] = "name"
    """The attribute of a person with the name."""

    own_browsers: ClassVar[tuple[str, ...]] = ()
    """Words in the User-Agent of the platform's own browser, which cannot scan its own screen."""

    def __init__(self, platform: PlatformT) -> None:
        self.platform: Any = platform

    @classmethod
    def make_routes(cls, platform: PlatformT) -> Blueprint:
        """Return the routes of the page."""
        page = cls(platform)
        routes = Blueprint("choice_page", cls.__module__)

        @routes.before_request
        def refuse_wrong_parameters() -> ResponseReturnValue | None:
            problem = page.find_problem(request.args)
            return page.refuse_request(problem) if problem else None

        for path in cls.paths:
            routes.add_url_rule(path, "show", page.show, methods=["GET"])
            routes.add_url_rule(path, "decide", page.decide, methods=["POST"])
        return routes

    @abstractmethod
    def find_problem(self, query: Mapping[str, str]) -> str | None:
        """Return what is wrong with a request, or ``None``."""

    @abstractmethod
    def values(self) -> dict[str, Any]:
        """Return further values for the template."""

    @abstractmethod
    def confirm(self, person: str) -> ResponseReturnValue:
        """Return the response to a person who confirms the login."""

    def deny(self) -> ResponseReturnValue:
        """Return the response to a person who refuses the login."""
        return redirect_back({"error": "access_denied"})

    def people(self) -> Iterable[Any]:
        """Return the people who may be chosen."""
        people: Iterable[Any] = self.platform.people.values()
        return people

    def shows_qr_code(self) -> bool:
        """Return whether the page has a QR code."""
        return not any(word in request.user_agent.string for word in self.own_browsers)

    def show(self, problem: str | None = None) -> str:
        """Return the page."""
        picture = segno.make(request.url, error="l").svg_data_uri(scale=2)
        return render_template(
            self.template,
            people=self.people(),
            name_member=self.name_member,
            action=request.full_path,
            problem=problem,
            picture=picture if self.shows_qr_code() else None,
            **self.values(),
        )

    def decide(self) -> ResponseReturnValue:
        """Return the response to a decision."""
        if request.form.get("decision") != "confirm":
            return self.deny()
        person = request.form.get("person", "")
        if person not in {item.id for item in self.people()}:
            return self.show(problem=self.choose), HTTPStatus.BAD_REQUEST
        return self.confirm(person)

    def refuse_request(self, problem: str) -> ResponseReturnValue:
        """Return the page for a wrong request."""
        return render_template("problem.html", problem=problem), HTTPStatus.BAD_REQUEST
