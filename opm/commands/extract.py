"""`opm alpha bundle extract`: a bundle into a ConfigMap of a cluster."""

import os
from pathlib import Path

import click

from olm_content.bundle.config_map import MAX_BYTES

IMAGE_VARIABLE = "CONTAINER_IMAGE"


@click.group("bundle")
def bundle() -> None:
    """Work with bundles in a cluster."""


@bundle.command("extract")
@click.option(
    *("-m", "--manifestsdir", "folder"),
    type=click.Path(path_type=Path),
    default=Path("/"),
    show_default=True,
    metavar="FOLDER",
    help="The bundle: a folder with `manifests` and `metadata`.",
)
@click.option("-c", "--configmapname", "name", required=True, metavar="NAME", help="The ConfigMap.")
@click.option(
    *("-n", "--namespace"),
    default="openshift-operator-lifecycle-manager",
    show_default=True,
    help="Its namespace.",
)
@click.option("-z", "--gzip", "compress", is_flag=True, help="Compress what is written.")
@click.option(
    *("-l", "--datalimit", "limit"),
    type=click.IntRange(min=0),
    default=MAX_BYTES,
    show_default=True,
    metavar="BYTES",
    help="Most that all of it may take.",
)
@click.option("-k", "--kubeconfig", metavar="FILE", help="In a pod its account counts without it.")
@click.option("--debug", is_flag=True, help="Accepted, without effect.")
def extract(  # noqa: PLR0913 - upstream's flags
    *,
    folder: Path,
    name: str,
    namespace: str,
    compress: bool,
    limit: int,
    kubeconfig: str | None,
    debug: bool,  # noqa: ARG001 - upstream's flag
) -> None:
    """Write the manifests of a bundle into a ConfigMap, as OLM Classic reads them.

    The ConfigMap has to be there. Its annotations become those of the bundle; CONTAINER_IMAGE in
    the environment says which image the bundle is from. The Jobs of catalog-operator run this.

    \b
    Example:
      opm alpha bundle extract -m bundle/ -n olm -c my-bundle -z
    """
    from olm_runtime.cli.async_work import run_async
    from olm_runtime.kube.access import load_access
    from opm.io.extraction import extract as written

    image = os.environ.get(IMAGE_VARIABLE, "")
    key = namespace, name
    access = load_access(kubeconfig)
    run_async(written(folder, access, key, image=image, compress=compress, limit=limit))
