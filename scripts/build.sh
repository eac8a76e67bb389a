#!/usr/bin/env bash
# From a fresh checkout to a part of kernelrl in build/release: installs what is missing, and builds one target.
#
#   scripts/build.sh judge        the program, and what judges kernels without a GPU
#   scripts/build.sh quickstart   what configs/quickstart.toml uses
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
if [[ ! -f build/release/build.ninja ]]; then
  echo "Configuring build/release"
  cmake --preset release -DKERNELRL_TESTS=OFF --log-level=WARNING
fi
echo "Building"
exec cmake --build --preset release --target "$1"
