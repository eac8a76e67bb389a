#!/usr/bin/env bash
# types_test.sh SOURCE: the Python client is typed throughout.
set -euo pipefail
source=$1
export PYTHONPATH=$source/.deps/mypy
python3=/usr/bin/python3
"$python3" -c 'import mypy' 2> /dev/null || { echo "skipped: no mypy; scripts/setup.sh --tests installs it"; exit 77; }
cache=$(mktemp -d)
trap 'rm -rf "$cache"' EXIT
cd "$source/clients/python"
"$python3" -m mypy --strict --cache-dir "$cache" kernelrl
