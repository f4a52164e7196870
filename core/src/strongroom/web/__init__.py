"""HTTP: one path for every route, pages for people, and the gateway that reads requests from sockets."""
