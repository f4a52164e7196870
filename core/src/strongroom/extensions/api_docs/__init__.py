"""The OpenAPI document, and documentation to try it out."""
