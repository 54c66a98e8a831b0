"""Uploads and downloads of images over a registry's HTTP interface.

Written against the OCI distribution specification instead of a library, so that tests of the
products' own registry client have an independent other side, and digests stay exactly ours.
"""

import json
import re
import ssl
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx

from e2e.harness.errors import RegistryFailed
from e2e.harness.images import Blob, Family, Image, ImageIndex

REQUEST_TIMEOUT = 60.0
EMPTY = "application/vnd.oci.empty.v1+json"
MANIFEST_TYPES = ", ".join(
    media_type for family in Family for media_type in (family.value.manifest, family.value.index)
)


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and a password."""

    username: str
    password: str


@dataclass(frozen=True, slots=True)
class Published:
    """An image in a registry."""

    repository: str
    digest: str
    tag: str | None = None

    @property
    def reference(self) -> str:
        """The reference by digest: always this content."""
        return f"{self.repository}@{self.digest}"

    @property
    def tag_reference(self) -> str:
        """The reference by tag: what the tag names at the time of asking."""
        if self.tag is None:
            raise ValueError(f"{self.reference} was published without a tag")
        return f"{self.repository}:{self.tag}"


class RegistryAuth(httpx.Auth):
    """Answers a registry's challenge, by password or with a token fetched from its realm.

    The password is sent to the realm that the registry names, so this is for own registries only.
    """

    requires_response_body = True

    def __init__(self, credentials: Credentials | None) -> None:
        """Take the credentials; without any, tokens are asked for anonymously."""
        self._basic = (
            httpx.BasicAuth(credentials.username, credentials.password) if credentials else None
        )

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Send, and when refused with a challenge, once more with what it asks for."""
        response = yield request
        if response.status_code != httpx.codes.UNAUTHORIZED:
            return
        scheme, _, parameters = response.headers.get("www-authenticate", "").partition(" ")
        if scheme.lower() == "bearer":
            granted = yield from self._with_password(_token_request(parameters))
            if granted.is_success:
                request.headers["authorization"] = f"Bearer {granted.json()['token']}"
                yield request
        elif self._basic is not None:
            yield from self._with_password(request)

    def _with_password(
        self, request: httpx.Request
    ) -> Generator[httpx.Request, httpx.Response, httpx.Response]:
        if self._basic is not None:
            request = next(self._basic.auth_flow(request))
        return (yield request)


class RegistryClient:
    """Pushes to and pulls from one registry; a context manager."""

    def __init__(
        self, url: str, *, ca_file: Path | None = None, credentials: Credentials | None = None
    ) -> None:
        """Describe the registry; `ca_file` is needed for https with an own authority."""
        verify = ssl.create_default_context(cafile=str(ca_file)) if ca_file else True
        self._host = httpx.URL(url).netloc.decode()
        self._http = httpx.Client(
            base_url=url,
            verify=verify,
            auth=RegistryAuth(credentials),
            timeout=REQUEST_TIMEOUT,
            trust_env=False,
        )

    def __enter__(self) -> Self:
        """Nothing to open: connections are made when needed."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        self._http.close()

    def push(
        self, image: Image | ImageIndex, repository: str, *, tag: str | None = None
    ) -> Published:
        """Upload what the registry does not have yet, then the manifest, by tag if one is given.

        Errors: RegistryFailed, with the registry's answer; httpx.TransportError.
        """
        if isinstance(image, ImageIndex):
            for part in image.images:
                self.push(part, repository)
        else:
            for blob in image.blobs:
                self._push_blob(blob, repository)
        digest = image.manifest.digest
        answer = self._http.put(
            f"/v2/{repository}/manifests/{tag or digest}",
            content=image.manifest.content,
            headers={"content-type": image.manifest.media_type},
        )
        _require(answer, httpx.codes.CREATED)
        return Published(f"{self._host}/{repository}", digest, tag)

    def attach(self, subject: Published, name: str, content: bytes) -> str:
        """Push an artifact that refers to an image, by digest alone; the digest of it."""
        repository = subject.repository.partition("/")[2]
        image = self.manifest(repository, subject.digest)
        config, layer = Blob(EMPTY, b"{}"), Blob("application/octet-stream", content)
        for blob in (config, layer):
            self._push_blob(blob, repository)
        document = {
            "schemaVersion": 2,
            "mediaType": Family.OCI.value.manifest,
            "artifactType": f"application/vnd.example.{name}",
            "config": config.descriptor(),
            "layers": [layer.descriptor()],
            "subject": image.descriptor(),
        }
        manifest = Blob(Family.OCI.value.manifest, json.dumps(document).encode())
        answer = self._http.put(
            f"/v2/{repository}/manifests/{manifest.digest}",
            content=manifest.content,
            headers={"content-type": manifest.media_type},
        )
        _require(answer, httpx.codes.CREATED)
        return manifest.digest

    def referrers(self, repository: str, digest: str) -> set[str]:
        """The digests of what refers to an image, as the registry lists it.

        Errors: RegistryFailed.
        """
        answer = self._http.get(f"/v2/{repository}/referrers/{digest}")
        return {each["digest"] for each in _require(answer, httpx.codes.OK).json()["manifests"]}

    def manifest(self, repository: str, reference: str) -> Blob:
        """A manifest or index by tag or digest. Errors: RegistryFailed."""
        answer = self._http.get(
            f"/v2/{repository}/manifests/{reference}", headers={"accept": MANIFEST_TYPES}
        )
        _require(answer, httpx.codes.OK)
        return Blob(answer.headers["content-type"], answer.content)

    def blob(self, repository: str, digest: str) -> bytes:
        """A blob's content. Errors: RegistryFailed."""
        return _require(self._http.get(f"/v2/{repository}/blobs/{digest}"), httpx.codes.OK).content

    def delete(self, repository: str, digest: str) -> None:
        """Remove a manifest, and with it the tags that name it. Errors: RegistryFailed."""
        answer = self._http.delete(f"/v2/{repository}/manifests/{digest}")
        _require(answer, httpx.codes.ACCEPTED)

    def _push_blob(self, blob: Blob, repository: str) -> None:
        present = self._http.head(f"/v2/{repository}/blobs/{blob.digest}")
        if present.status_code == httpx.codes.OK:
            return
        upload = _require(self._http.post(f"/v2/{repository}/blobs/uploads/"), httpx.codes.ACCEPTED)
        place = upload.url.join(upload.headers["location"]).copy_add_param("digest", blob.digest)
        answer = self._http.put(
            place, content=blob.content, headers={"content-type": "application/octet-stream"}
        )
        _require(answer, httpx.codes.CREATED)


def _token_request(parameters: str) -> httpx.Request:
    challenge = dict(re.findall(r'(\w+)="([^"]*)"', parameters))
    query = {name: challenge[name] for name in ("service", "scope") if name in challenge}
    return httpx.Request("GET", challenge["realm"], params=query)


def _require(answer: httpx.Response, expected: httpx.codes) -> httpx.Response:
    if answer.status_code != expected:
        request = answer.request
        raise RegistryFailed(
            f"{request.method} {request.url}: {answer.status_code} {answer.text.strip()}"
        )
    return answer
