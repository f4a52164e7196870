"""SCIM 2.0: a company's directory creates and changes users and groups (RFC 7643, RFC 7644)."""
