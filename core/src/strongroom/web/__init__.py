"""What every route shares: envelope, errors, the token guard, OpenAPI."""
