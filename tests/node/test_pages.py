"""Commands of pages that need pods which run; tests/integration/pages runs all others."""

from pathlib import Path

import pytest

from e2e.node.cluster import Node
from e2e.node.release import Release
from e2e.olm.chart import NAMESPACE
from e2e.olm.pages import HOW_TO, steps
from e2e.olm.reader import Reader

pytestmark = [pytest.mark.node, pytest.mark.usefixtures("product")]

PAGES = [page for page in sorted(HOW_TO.glob("*.md")) if any(s.pods for s in steps(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_commands_do_what_they_say(
    page: Path, node: Node, product: Release, tmp_path: Path
) -> None:
    reader = Reader(tmp_path, node.control_plane)
    reader.follow([step for step in steps(page) if step.pods])
    for program in ("catalogd", "operator-controller"):  # a page may have killed one
        deployment = f"deployment/{program}-controller-manager"
        node.kubectl("rollout", "status", "-n", NAMESPACE, deployment, "--timeout=180s")
