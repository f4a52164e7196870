"""Clients without a registration, whose ``client_id`` is the URL of a document about them.

The draft is draft-ietf-oauth-client-id-metadata-document. Nothing is stored of a client that no user has
consented to: the documents are in the memory of the process.
"""
