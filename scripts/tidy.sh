#!/usr/bin/env bash
# Finds errors that the unity builds of the presets do not show:
#   - clang-tidy 14 with .clang-tidy on the headers: the SDK's as C++17, the core's, the service's and the server's as C++20. Each set is included
#     by one file, which takes seconds; each header by itself would take minutes;
#   - with --includes, a missing #include: each source of the core, the service and the server is compiled by itself, as far as the compiler's
#     errors, which takes two minutes on two cores. The plugins are left out, as they would take as long as their build.
set -euo pipefail
shopt -s nullglob
cd "$(dirname "${BASH_SOURCE[0]}")/.."

for program in clang-tidy-14 clang++; do
  command -v "$program" > /dev/null && continue
  echo "scripts/tidy.sh: needs $program (scripts/setup.sh --tests)" >&2
  exit 2
done
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
check c++20 core {core,service,serve}/*/*.hpp || result=1
wait "$sdk" || result=1
((result == 0)) || cat "$tmp"/*.log
[[ ${1-} == --includes ]] || exit "$result"
printf '%s\0' {core,service,serve}/*/*.cpp | xargs -0 -P "$(nproc)" -n 1 clang++ -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Werror \
  -I. -Isdk/include -DKERNELRL_VERSION='""' -DSPDLOG_COMPILED_LIB -DSPDLOG_FMT_EXTERNAL || result=1
exit "$result"
