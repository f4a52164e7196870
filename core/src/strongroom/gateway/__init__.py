"""Connects Granian's HTTP protocol objects to the WSGI application.

Granian's own WSGI interface folds ``-`` and ``_`` in header names into one, and holds a thread for as
long as a client takes to send or to read. This package uses Granian's ASGI protocol objects instead,
from the threads of Granian's pool and without an event loop: header names arrive as they were sent, and
a request that waits for its client holds no thread, except while an upload is being stored.

=============== =============================================================
``environ``     builds the WSGI environ (PEP 3333), and refuses bad ``Host``s
``protocol``    Granian's objects, and how to await them without an event loop
``patience``    the minimum transfer rate
``timers``      ends what has waited too long for a client
``admission``   which request may use a thread now
``bodies``      request bodies: received early, read by a thread, discarded
``responses``   response bodies, with backpressure
``connections`` closes the connection of a client that is too slow
``exchange``    one request and its response
``worker``      the process that serves, as Granian's master starts it
=============== =============================================================
"""
