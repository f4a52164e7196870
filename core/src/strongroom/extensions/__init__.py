"""Features that nothing below needs: each is a folder, and may be left out of the server."""
