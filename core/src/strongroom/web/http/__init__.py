"""One HTTP path for every route: dispatch, access, parsing, responses, errors and OpenAPI."""
