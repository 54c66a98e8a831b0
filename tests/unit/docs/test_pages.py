"""Pages of the documentation: their links lead somewhere, their commands are run, names exist."""

import re
from pathlib import Path

import pytest
import yaml

import catalogd.http.exposition
import operator_controller.exposition
from catalogd.metrics import Metrics as CatalogdMetrics
from e2e.olm.chart import CHART, SNAPSHOTS
from e2e.olm.pages import DOCS, HOW_TO, blocks, prints, shows, steps
from olm_runtime.metrics.exposition import written
from operator_controller.metrics import Metrics, Readings

ROOT = DOCS.parent
PAGES = sorted(
    [*DOCS.rglob("*.md"), *ROOT.glob("*.md"), *ROOT.glob("charts/**/*.md"), ROOT / "e2e/README.md"]
)
TESTS = ROOT / "tests"
FOLLOWED_BY = {
    "integration/pages/test_operating.py": (
        "how-to/disconnected.md", "how-to/high-availability.md", "how-to/install.md",
        "how-to/monitoring.md", "how-to/proxy.md", "how-to/troubleshooting.md",
        "how-to/upgrade.md", "concepts/security-model.md",
    ),
    "integration/pages/test_daily.py": (
        "../README.md", "quick-start.md", "how-to/find-extensions.md", "how-to/gitops.md",
        "how-to/install-and-remove.md", "how-to/manage-catalogs.md", "how-to/roll-back.md",
        "how-to/update.md", "reference/catalogd.md", "reference/crd-upgrade-safety.md",
        "reference/olm.md",
    ),
    "integration/cluster_updates/test_cluster_operator.py": ("how-to/openshift.md",),
    "integration/cluster_version/test_update_service.py": ("how-to/serve-updates.md",),
    "integration/test_own_release.py": ("how-to/release-with-olm.md",),
    "integration/test_opm_catalogs.py": ("how-to/build-a-catalog.md", "reference/opm.md"),
    "integration/test_opm_indexes.py": ("how-to/sqlite-indexes.md",),
    "integration/test_least_rights.py": ("how-to/permissions.md",),
    "unit/olm_cli/classic/test_resolution_page.py": ("classic/resolution.md",),
    "integration/classic/test_catalogs.py": ("classic/catalog-sources.md",),
    "integration/classic/test_subscriptions.py": ("classic/subscriptions.md",),
    "integration/classic/test_user_plans.py": ("classic/install-plans.md",),
    "integration/classic/test_package_server.py": ("classic/package-manifests.md",),
    "integration/from_upstream/test_taking_over.py": ("how-to/from-upstream.md",),
    "integration/olm_operator/test_operator_groups.py": ("classic/operator-groups.md",),
    "integration/olm_operator/test_copies.py": ("classic/copied-csvs.md",),
    "integration/olm_operator/test_operator_conditions.py": ("classic/operator-conditions.md",),
    "integration/classic/test_operator_hub.py": ("classic/README.md",),
    "integration/olm_operator/test_how_tos.py": (
        "classic/administer.md", "classic/troubleshooting.md",
        "classic/webhooks-and-api-services.md",
    ),
}  # fmt: skip
"""The test that runs the commands of a page."""
RUN = [DOCS / page for page in FOLLOWED_BY["integration/pages/test_operating.py"]]
COMMANDS, DATA = {"sh", "console"}, {"json", "python", "text", "yaml"}
NEEDS = {"pods", "engine", "minutes", "fails"}
PROGRAM = re.compile(r"(\$ |(curl|docker|helm|kubectl|make|olm|opm|pip|pipx|python) )")

named = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@named
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def test_the_table_of_contents_has_all_pages() -> None:
    contents = (DOCS / "README.md").read_text()
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"README.md"}
    assert {page for page in pages if f"({page})" not in contents} == set()


@named
def test_every_block_says_what_it_is(page: Path) -> None:
    assert re.search(r"^ +```", page.read_text(), re.MULTILINE) is None, "no block is indented"
    for block, before in zip(blocks(page), [None, *blocks(page)], strict=False):
        where = f"{page.name}, line {block.line}"
        language, *needs = block.info or ("",)
        assert language in COMMANDS | DATA, where
        assert set(needs) <= (NEEDS if language in COMMANDS else set()), where
        if language == "text" and not (before and prints(before, block)):
            assert not any(map(PROGRAM.match, block.body.splitlines())), f"{where}: commands"


def test_pages_with_commands_are_followed() -> None:
    with_commands = {page for page in PAGES if any(not step.minutes for step in steps(page))}
    followed = {(DOCS / page).resolve() for pages in FOLLOWED_BY.values() for page in pages}
    assert with_commands == followed
    for test, pages in FOLLOWED_BY.items():
        text = (TESTS / test).read_text()
        assert {page for page in pages if f"{Path(page).stem}" not in text} == set()


def test_what_takes_minutes_is_there() -> None:
    """Builds and benchmarks: their targets and modules."""
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = "".join(step.command for step in steps(page) if step.minutes)
        assert set(re.findall(r"^make ([\w-]+)", text, re.MULTILINE)) <= targets
        modules = {name.replace(".", "/") for name in re.findall(r"python -m ([\w.]+)", text)}
        for path in [*modules, *re.findall(r"python (tests\S+)\.py", text)]:
            assert (ROOT / f"{path}.py").exists() or (ROOT / path / "__main__.py").exists(), path


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a", "a\nb", False),
        ("a  b", "a      b", True),
        ("a ...", "a and more", True),
        ("a ...", "an end", False),
        ("a\n...\nz", "a\nb\nc\nz", True),
        ("a\n...\nz", "a\nz", True),
        ("a\n...\nz", "a\nb", False),
        ("x   12s", "x   3m4s", True),
        ("x.y", "x-y", False),
    ],
)
def test_what_counts_as_the_same_output(expected: str, printed: str, same: bool) -> None:
    assert shows(expected, printed) is same


def test_queries_of_the_page_use_metrics_that_there_are() -> None:
    reported = written(
        [
            *catalogd.http.exposition.families(CatalogdMetrics()),
            *operator_controller.exposition.families(Metrics(), Readings()),
        ]
    )
    families = set(re.findall(r"# TYPE (\S+)", reported.decode()))
    text = (HOW_TO / "monitoring.md").read_text()
    prefixes = "catalogd|operator_controller|workqueue|leader_election"
    found = re.findall(rf"\b((?:{prefixes})_\w+)", text)
    assert len(found) > 10
    assert {re.sub(r"_(bucket|count|sum)$", "", name) for name in found} <= families


def test_alerts_of_the_page_are_those_of_the_chart() -> None:
    documents = yaml.safe_load_all((SNAPSHOTS / "everything.yaml").read_text())
    [rules] = [d for d in documents if d and d["kind"] == "PrometheusRule"]
    alerts = {
        (rule["alert"], rule["labels"]["severity"])
        for group in rules["spec"]["groups"]
        for rule in group["rules"]
    }
    rows = re.findall(r"^\| `(OLM\w+)` \|[^|]*\| (\w+) \|", (HOW_TO / "monitoring.md").read_text(),
                      re.MULTILINE)  # fmt: skip
    assert set(rows) == alerts


def test_values_that_pages_name_are_values_of_the_chart() -> None:
    """A value in back quotes, such as `catalogd.replicas`."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    named = [
        (page.name, path)
        for page in RUN
        for path in re.findall(r"`([a-zA-Z]+(?:\.[a-zA-Z]+)+)`", page.read_text())
        if path.partition(".")[0] in values and not path.endswith((".crt", ".key"))
    ]
    assert named
    for page, path in named:
        at = values
        for key in path.split("."):
            assert key in at, f"{page}: {path}"
            at = at[key]
