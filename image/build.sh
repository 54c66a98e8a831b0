#!/usr/bin/env bash
# build.sh NAME: builds Dockerfile without an engine, on bases made from Debian packages.
# build.sh --base: makes the image's base only, and prints its name.
#
# Needs root, buildah and mmdebstrap. The image stays in buildah's storage, or in the folder
# OLMV1_STORAGE; build/image.tar is the same as an OCI archive, build/sbom.cdx.json says what it holds.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
name=$1
suite=bookworm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for tool in buildah mmdebstrap; do
  command -v "$tool" > /dev/null || { echo "error: $tool is needed: apt-get install $tool" >&2; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "error: only root can build without an engine" >&2; exit 1; }

storage=(--storage-driver=overlay)
[ -n "${OLMV1_STORAGE:-}" ] && storage+=(--root "$OLMV1_STORAGE/root" --runroot "$OLMV1_STORAGE/runroot")
b() { buildah "${storage[@]}" "$@"; }

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

recipe=$({ echo "$suite"; declare -f base builder; } | sha256sum | cut -c1-12)

import() {
  local container
  container=$(b from scratch)
  b add "$container" "$1" / > /dev/null
  b commit --quiet --rm "$container" "$2" > /dev/null
}

# made PART: the name of a base, which is made if it is not there.
made() {
  local image="localhost/olmv1-$1:$recipe"
  if [ -z "$(b images --quiet --filter "reference=$image" 2> /dev/null)" ]; then
    echo "$1 of the image: made from Debian packages, once" >&2
    "$1" "$work/$1.tar" >&2 || { echo "error: Debian packages for the $1 cannot be had" >&2; exit 3; }
    import "$work/$1.tar" "$image"
  fi
  echo "$image"
}

base=$(made base)
[ "$name" = --base ] && { echo "$base"; exit; }

builder=$(made builder)
arguments=(--build-arg "BASE=$base" --build-arg "BUILD=$builder")
ca=${PIP_CERT:-/etc/ssl/certs/ca-certificates.crt}
[ -f "$ca" ] && arguments+=(--volume "$ca:/run/pip-ca.pem:ro" --build-arg PIP_CERT=/run/pip-ca.pem)
index=${PIP_INDEX_URL:-$(python3 -m pip config get global.index-url 2> /dev/null || true)}
[ -n "$index" ] && arguments+=(--build-arg "PIP_INDEX_URL=$index")
bud() { b bud --quiet --isolation=chroot --layers --pull-never "${arguments[@]}" "$@" . > /dev/null; }
# By names, so that pruning does not take them: they change with their sources only.
bud --target copier --tag localhost/olmv1-copier
bud --target dependencies --tag localhost/olmv1-dependencies
bud --tag "$name"

mkdir -p build
rm -f build/image.tar
b push --quiet "$name" "oci-archive:build/image.tar:$name"
container=$(b from --pull-never "$name")
cp "$(b mount "$container")/opt/olmv1/sbom.cdx.json" build/sbom.cdx.json
du -sb "$(b mount "$container")" | awk '{printf "image: %d MB in all, ", $1 / 1000000}'
b rm "$container" > /dev/null
du -sb build/image.tar | awk '{printf "%d MB to pull; build/image.tar, build/sbom.cdx.json\n", $1 / 1000000}'
