"""Release images fetched by Jobs, onto a volume that the operator has, too.

Source of the rules: the documents, section 6, step 4, and upstream's notes, section 5.3.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from api.objects import KubeObject, metadata, name_of
from cluster_version.decisions.target import Target
from cluster_version.io.release_images import NotRetrievedError
from cluster_version.payload.release_folders import OPERATOR_FOLDER, RELEASE_FOLDER
from cluster_version.payload.retrieval_job import (
    APP,
    APP_LABEL,
    DEADLINE_SECONDS,
    JOB,
    POD,
    Means,
    RetrievalPlace,
    failure,
    folder_of,
    is_done,
    lacks_programs,
    retrieval_job,
)
from olm_runtime.kube.client import KubeClient
from olm_runtime.kube.errors import AlreadyExistsError, ApiError

WAIT_SECONDS = DEADLINE_SECONDS + 10.0
"""For the end of a Job; it is ended by its deadline where pods run."""
LOOK_EVERY = 1.0
"""Seconds between looks at a Job that runs."""


class _LacksProgramsError(Exception):
    """The image has not what the Job runs."""


@dataclass(frozen=True, slots=True)
class ReleaseJobs:
    """Fetches images by Jobs. `payloads` is where the volume of these is for this program."""

    client: KubeClient
    place: RetrievalPlace
    payloads: Path
    field_manager: str

    async def fetch(self, target: Target) -> Path:
        """The folder with the content of an image. Raises NotRetrievedError.

        One that is there is used as it is. A Job that an earlier process began is waited for.
        """
        folder = self.payloads / folder_of(target.image)
        try:
            if await asyncio.to_thread(_is_whole, folder):
                return folder
            problem = await self._copy(target)
            if not problem and not await asyncio.to_thread(_is_whole, folder):
                problem = f"there is nothing in {folder}"
        except ApiError as error:
            problem = error.message
        except OSError as error:
            problem = f"cannot read {folder}: {error.strerror or error}"
        if problem:
            raise NotRetrievedError(f"Unable to download and prepare the update: {problem}")
        return folder

    async def _copy(self, target: Target) -> str:
        """Copies a release by what its image has for that; why that failed, empty if it did not."""
        for means in Means:
            job = retrieval_job(target.version, target.image, self.place, means)
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    return await self._run(job)
            except TimeoutError:
                return f"the Job did not end within {WAIT_SECONDS:.0f} s"
            except _LacksProgramsError:
                await self._remove(name_of(job), is_in_the_way=lambda _: True)
        return "the image has neither sh and cp nor copy-release; --retrieve-by=registry needs none"

    async def _run(self, job: KubeObject) -> str:
        """Runs a Job; why it failed, empty if it did not. Raises _LacksProgramsError."""
        await self._remove(name_of(job), is_in_the_way=_has_ended)
        try:
            live = await self.client.create(job, field_manager=self.field_manager)
        except AlreadyExistsError:
            live = await self.client.get(JOB, name_of(job), self.place.namespace)
        pods: list[KubeObject] = []
        while True:
            pods = await self._pods(live) or pods  # a Job that fails deletes its pods
            if is_done(live):
                return ""
            if lacks_programs(pods):
                raise _LacksProgramsError
            if problem := failure(live, pods):
                return problem
            await asyncio.sleep(LOOK_EVERY)
            found = await self.client.find(JOB, name_of(job), self.place.namespace)
            if found is None:
                return f"the Job {name_of(job)} was deleted"
            live = found

    async def _pods(self, job: KubeObject) -> list[KubeObject]:
        """Those of this very Job, and not of an earlier one of its name."""
        labels = f"batch.kubernetes.io/controller-uid={metadata(job)['uid']}"
        found, _ = await self.client.list_all(POD, self.place.namespace, labels=labels)
        return found

    async def _remove(self, name: str, *, is_in_the_way: Callable[[KubeObject], bool]) -> None:
        """Removes Jobs of other images, and that of this name if it is in the way."""
        while True:
            jobs, _ = await self.client.list_all(
                JOB, self.place.namespace, labels=f"{APP_LABEL}={APP}"
            )
            leaving = [job for job in jobs if name_of(job) != name or is_in_the_way(job)]
            for job in leaving:
                if not metadata(job).get("deletionTimestamp"):
                    await self.client.delete(job, uid=metadata(job)["uid"])
            if not any(name_of(job) == name for job in leaving):
                return
            await asyncio.sleep(LOOK_EVERY)


def _has_ended(job: KubeObject) -> bool:
    return is_done(job) or failure(job, ()) is not None


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_dir() for name in (OPERATOR_FOLDER, RELEASE_FOLDER))
