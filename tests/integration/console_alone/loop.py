"""Where tests run that have a browser."""

import pytest

IN_LOOP_OF_BROWSER = pytest.mark.asyncio(loop_scope="session")
"""One browser is for all of them, and of one event loop."""
