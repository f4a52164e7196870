"""Connects Granian's HTTP protocol objects to the WSGI application.

Granian's own WSGI interface does not distinguish ``-`` and ``_`` in header names, and blocks a thread
while a client sends or reads slowly. This package uses Granian's ASGI protocol objects instead, from
the threads of Granian's pool and without an event loop. So header names arrive unchanged, and a request
that waits for its client blocks no thread, except while an upload is being stored.

=============== =============================================================
``protocol``    Granian's objects, and how to await them without an event loop
``limits``      threads for transfers, the minimum transfer rate, timeouts
``bodies``      request bodies: received early, read by a thread, discarded
``responses``   response bodies, with backpressure
``exchange``    one request, its WSGI environ (PEP 3333) and its response
``worker``      the entry point of a worker process
=============== =============================================================
"""
