#!/usr/bin/env bash
# From a fresh checkout to a model that learns: sets up, builds what configs/quickstart.toml uses, and runs it. The rest is
# built by `cmake --build --preset release`.
# Options are passed to kernelrl: `scripts/quickstart.sh --resume` continues an interrupted run,
# `--set run.name=second` starts another one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/build.sh quickstart
exec build/release/bin/kernelrl --plan configs/quickstart.toml "$@"
