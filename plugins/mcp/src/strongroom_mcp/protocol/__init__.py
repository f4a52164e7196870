"""The Model Context Protocol over HTTP, without state. It knows tools and resources, but no files.

A request is one JSON-RPC message, and its response one JSON document. No session exists, so that any
process of the server answers any request. :class:`~strongroom_mcp.protocol.endpoint.Endpoint` checks
HTTP, :class:`~strongroom_mcp.protocol.server.Server` answers methods, and the dataclasses of
:mod:`strongroom_mcp.protocol.registry` are what a server offers.
"""
