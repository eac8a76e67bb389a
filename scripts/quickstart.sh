#!/usr/bin/env bash
# From a fresh checkout to a model that learns: sets up, builds what configs/quickstart.toml uses, and runs it. The rest is
# built by `cmake --build --preset release`.
# Options are passed to kernelrl: `scripts/quickstart.sh --resume` continues an interrupted run,
# `--set run.name=second` starts another one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
if [[ ! -f build/release/build.ninja ]]; then
  echo "Configuring build/release"
  cmake --preset release -DKERNELRL_TESTS=OFF --log-level=WARNING
fi
echo "Building"
cmake --build --preset release --target quickstart
exec build/release/bin/kernelrl --plan configs/quickstart.toml "$@"
