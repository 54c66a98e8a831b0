#!/usr/bin/env bash
# build.sh NAME: builds Dockerfile without an engine, on bases made from Debian packages.
#
# Needs root, buildah and mmdebstrap. The image stays in buildah's storage; build/image.tar is the
# same as an OCI archive, build/sbom.cdx.json says what it holds.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
suite=bookworm
recipe=$(sha256sum image/build.sh | cut -c1-12)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p build

for tool in buildah mmdebstrap; do
  command -v "$tool" > /dev/null || { echo "error: $tool is needed: apt-get install $tool" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "error: only root can build without an engine" >&2; exit 1; }

b() { buildah --storage-driver=overlay "$@"; }

# The image's own: packages as they are, with no shell. Their scripts do not
# run, so what they would have made is made here, and the list of packages for the SBOM.
base() {
  mmdebstrap --quiet --variant=extract --include=python3-minimal,libpython3-stdlib,ca-certificates,base-files,libstdc++6 \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/zoneinfo/*' \
    --extract-hook='for deb in "$1"/var/cache/apt/archives/*.deb; do dpkg-deb --field "$deb" Package Version Architecture; echo "Status: install ok installed"; echo; done > "$1/var/lib/dpkg/status"' \
    --customize-hook='mkdir -p "$1/etc/ssl/certs"; cat "$1"/usr/share/ca-certificates/mozilla/*.crt > "$1/etc/ssl/certs/ca-certificates.crt"' \
    --customize-hook='printf "root:x:0:0:root:/root:/sbin/nologin\nolm:x:65532:65532:olm:/tmp:/sbin/nologin\n" > "$1/etc/passwd"' \
    --customize-hook='printf "root:x:0:\nolm:x:65532:\n" > "$1/etc/group"' \
    "$suite" "$1"
}

builder() {
  mmdebstrap --quiet --variant=minbase --include=python3-pip,python3-venv,binutils,ca-certificates "$suite" "$1"
}

import() {
  local container
  container=$(b from scratch)
  b add "$container" "$1" / > /dev/null
  b commit --quiet --rm "$container" "$2" > /dev/null
}

for part in base builder; do
  if [ -z "$(b images --quiet --filter "reference=localhost/olmv1-$part:$recipe" 2> /dev/null)" ]; then
    echo "$part: made from Debian packages, once" >&2
    "$part" "$work/$part.tar"
    import "$work/$part.tar" "localhost/olmv1-$part:$recipe"
  fi
done

arguments=()
ca=${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}
[ -f "$ca" ] && arguments+=(--volume "$ca:/run/pip-ca.pem:ro" --build-arg PIP_CERT=/run/pip-ca.pem)
[ -n "${PIP_INDEX_URL:-}" ] && arguments+=(--build-arg "PIP_INDEX_URL=$PIP_INDEX_URL")
b bud --quiet --isolation=chroot --layers --pull-never --tag "$name" \
  --build-arg "BASE=localhost/olmv1-base:$recipe" --build-arg "BUILD=localhost/olmv1-builder:$recipe" "${arguments[@]}" .

rm -f build/image.tar
b push --quiet "$name" "oci-archive:build/image.tar:$name"
container=$(b from --pull-never "$name")
cp "$(b mount "$container")/opt/olmv1/sbom.cdx.json" build/sbom.cdx.json
du -sb "$(b mount "$container")" | awk '{printf "image: %d MB in all, ", $1 / 1000000}'
b rm "$container" > /dev/null
du -sb build/image.tar | awk '{printf "%d MB to pull; build/image.tar, build/sbom.cdx.json\n", $1 / 1000000}'
