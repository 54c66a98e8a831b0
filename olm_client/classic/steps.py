"""The steps of a plan from the command line: the bundles are pulled, and nothing is written."""

from collections.abc import Mapping
from typing import Any

from olm_classic.install_plans.lookups import Unpacked, lookup_of
from olm_classic.install_plans.steps import Step, steps_of
from olm_classic.resolve import Chosen, Resolution
from olm_client.bundle_files import registries
from olm_content.bundle.files import MANIFESTS, files_of
from olm_content.formats.kube_yaml import load_all
from olm_runtime.cli.async_work import run_async
from olm_runtime.errors import OLMError, TerminalError
from olm_runtime.images.limits import BUNDLE_LIMITS
from olm_runtime.registry.workstation import pulled


def read_steps(found: Resolution, namespace: str, options: Mapping[str, Any]) -> list[Step]:
    """The steps that catalog-operator would write. Raises OLMError."""
    bundles = [_unpacked(each, options) for each in found.planned]
    return steps_of(bundles, found.generated, namespace)


def _unpacked(chosen: Chosen, options: Mapping[str, Any]) -> Unpacked:
    image = chosen.entry.image
    if not image:
        raise TerminalError(
            f"{chosen.entry.name} has no image, its manifests stand in the catalog",
            hint="leave out --steps",
        )
    with pulled(image, registries(dict(options)), limits=BUNDLE_LIMITS) as bundle:
        files = run_async(bundle.read())
    manifests = files_of(files, MANIFESTS)
    if not manifests:
        raise TerminalError(f"{image} has no manifests: it is no bundle")
    try:
        objects = tuple(
            document
            for path in sorted(manifests)
            for document in load_all(files[path])
            if isinstance(document, dict)
        )
    except OLMError as error:
        raise TerminalError(f"{image}: {error.message}", hint=error.hint) from error
    return Unpacked(lookup_of(chosen), objects)
