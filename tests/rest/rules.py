"""The rules that a test of the REST API must show, by the section of the specification they stand in."""

from typing import Final

RULES: Final = {
    "4.2 GET /credentials/{credential}/available": "check whether a credential can be registered",
    "4.2 POST /users/{userId}/emails": "create an e-mail login credential",
    "4.2 DELETE /users/{userId}/emails": "delete an e-mail login credential",
    "4.2 POST /users/{userId}/mobiles": "create a mobile-number login credential",
    "4.2 DELETE /users/{userId}/mobiles": "delete a mobile-number login credential",
    "4.2 POST /api/v1/users/{userId}/wechatIds": "add a social-platform login credential",
    "4.2 PUT /users/{userId}/username": "set the login username",
    "4.2 PUT /users/{userId}/password": "set a new password by giving the old one",
    "4.2 POST /users/{credential}/reset-password": "reset the login password",
    "4.2 POST /authorizations": "verify credentials, issue an access token",
    "4.2 DELETE /authorizations/{accessToken}": "destroy an access token",
    "4.2 POST /api/v1/wechat-authorizations": "social-platform authorization",
    "4.2 POST /api/v1/miniProgram-authorization": "social-platform mini-program authorization",
    "4.2 login request": "JSON of username and password",
    "4.2 login success": "200, the token in X-Access-Token, which is exposed",
    "4.2 login failure": "401 error.invalid-credentials, and no token",
    "4.2 login captcha": "validated when it is required and a password is given",
    "4.2 login captcha skipped": "when no password is given",
    "4.2 login without a password": "never by a bare username",
    "4.2 login registers": "a code's number that is new makes a user",
    "4.2 login audit": "recorded in the user audit",
    "5.1": "access tokens are JWTs, by HMAC or RSA",
    "5.2": "returned in X-Access-Token, destroyed by DELETE, revoked by the server",
    "5.3": "how a token is presented",
    "5.4": "how long a token lives",
    "5.5": "what requires a token; changing a password does",
    "5.6": "authorization by resource and operation",
    "5 login 1": "by password, by SMS code, and by no other system",
    "5 login 2": "after more than 3 failures a captcha must be entered",
    "5 login 3": "one SMS code a minute to a device; a captcha before each",
    "5 reset 1": "collect the mobile number or the e-mail address",
    "5 reset 2": "no security question",
    "5 reset 3": "send a token, which requires a captcha",
    "5 reset 4": "change the password using the token and the new password",
    "5 reset 5": "write a log record; remind of the change",
    "5 reset 6": "passwords are stored with bcrypt",
    "5 change 1": "the new password differs from the old one",
    "5 change 2": "1 uppercase letter, 1 lowercase letter, 1 digit, 8 characters",
    "5 change 3": "a strength hint; a reminder of the change",
    "5 binding 1": "unbound and bound again; a new one is verified",
    "5 binding 2": "unbinding requires a token, whose sending requires a captcha",
    "5 binding 3": "at least one of e-mail and mobile number remains",
    "5 binding 4": "a social-platform id is verified, and bound to one account",
    "7 200": "OK",
    "7 201": "Created",
    "7 400": "Bad Request",
    "7 401": "Unauthorized",
    "7 403": "Forbidden",
    "7 404": "Not Found",
    "7 409": "Conflict",
    "7 500": "Internal Server Error",
    "7 501": "Not Implemented",
    "8 failed logins": "3 before a captcha is required",
    "8 SMS code sending rate": "1 per minute per device",
    "8 password minimum length": "8 characters, with 1 uppercase, 1 lowercase, 1 digit",
    "8 bound login identifiers": "at least one of e-mail and mobile number",
}
"""By the name that a test is marked with: ``@pytest.mark.rule("5 login 2")``. What section 5 calls not
implemented, a reminder of logins from another place, is no rule."""

PENDING: Final = frozenset(
    {
        "4.2 POST /api/v1/users/{userId}/wechatIds",
        "4.2 POST /api/v1/wechat-authorizations",
        "4.2 POST /api/v1/miniProgram-authorization",
        "5 binding 4",
    }
)
"""Rules of what is still to be built. Sections 4.3 and 4.4 join the table with their endpoints."""
