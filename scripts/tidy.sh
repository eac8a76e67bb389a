#!/usr/bin/env bash
# Checks the public headers by clang-tidy 14 with .clang-tidy: the SDK's as C++17, the core's as C++20. Each set is included by
# one file, which takes seconds; each file by itself would take minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if ! command -v clang-tidy-14 > /dev/null; then
  echo "scripts/tidy.sh: needs clang-tidy-14 (scripts/setup.sh --tests)" >&2
  exit 2
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# check STANDARD NAME HEADER…
check() {
  local standard=$1 name=$2
  shift 2
  printf '#include "%s"\n' "$@" > "$tmp/$name.cpp"
  clang-tidy-14 --quiet --config-file=.clang-tidy "$tmp/$name.cpp" -- "-std=$standard" -I. -Isdk/include \
    -DKERNELRL_VERSION='""' > "$tmp/$name.log" 2>&1
}

check c++17 sdk sdk/include/kernelrl/*.hpp sdk/include/kernelrl/testing/*.hpp &
sdk=$!
result=0
check c++20 core core/*/*.hpp || result=1
wait "$sdk" || result=1
((result == 0)) || cat "$tmp"/*.log
exit "$result"
