"""HTTP: one path for every route, and the gateway that reads requests from sockets."""
