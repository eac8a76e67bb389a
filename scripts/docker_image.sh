#!/usr/bin/env bash
# Builds the image in which the docker backend compiles: a minimal Debian 12 with g++, nvcc's host compiler.
# CUDA itself is not included: the backend mounts the toolkit read-only. Needs root or sudo, a running Docker and Debian's
# archive. Does nothing if the image exists.
#
#   scripts/docker_image.sh             builds kernelrl-worker
#   scripts/docker_image.sh --rebuild   even if it exists, with Debian's current packages
set -euo pipefail

image=kernelrl-worker
suite=bookworm
mirror=${KERNELRL_DEBIAN_MIRROR:-http://deb.debian.org/debian}
PATH=$PATH:/usr/sbin # debootstrap's place

fail() {
  printf 'scripts/docker_image.sh: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    fail "neither root nor sudo; ask an administrator to run: scripts/docker_image.sh"
  fi
}

require() {
  command -v "$1" > /dev/null || fail "needs $1; install it: apt-get install $2"
}

# Removes files that only people need, and those that apt left behind.
trim() {
  as_root rm -rf "$1"/usr/share/{doc,info,locale,man} "$1"/var/{cache/apt,lib/apt/lists,log}
}

case ${1:-} in
  '') rebuild=0 ;;
  --rebuild) rebuild=1 ;;
  *) fail "unknown option '$1'; known is --rebuild" ;;
esac

require docker docker.io
docker version > /dev/null || fail "no Docker answers, see the line above"
if ((rebuild == 0)) && docker image inspect "$image" > /dev/null 2>&1; then
  echo "$image is there already"
  exit 0
fi
require debootstrap debootstrap

root=$(mktemp -d)
trap 'as_root rm -rf "$root"' EXIT
echo "Unpacking Debian $suite with g++ (a minute or two)"
as_root debootstrap --variant=minbase --include=g++ "$suite" "$root" "$mirror" > "$root.log" 2>&1 ||
  fail "debootstrap failed, see $root.log"
rm -f "$root.log"
trim "$root"
as_root tar --create --numeric-owner --directory "$root" . | docker import - "$image" > /dev/null
echo "$image: $(docker image inspect --format '{{.Size}}' "$image" | numfmt --to=si)B"
