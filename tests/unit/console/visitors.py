"""A console whose API server is away, as a browser asks it."""

from console.settings import Place

HOST = "127.0.0.1:8899"
PLACE = Place(frozenset({HOST, "localhost:8899"}), secure=False, cookie="olm-console")
ORIGIN = {"Origin": f"http://{HOST}"}
