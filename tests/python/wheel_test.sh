#!/usr/bin/env bash
# wheel_test.sh SOURCE: the wheel of the Python client is built and installed as users do, without the network, and has the
# project's version and no dependency.
set -euo pipefail
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$source/clients/python" "$folder/client"  # a build leaves files beside its sources

python3=/usr/bin/python3
"$python3" -c 'import setuptools, wheel' 2> /dev/null || { echo "skipped: $python3 has no setuptools and wheel"; exit 77; }
"$python3" -m pip --disable-pip-version-check wheel --quiet --no-index --no-build-isolation --no-deps \
  --wheel-dir "$folder" "$folder/client"
"$python3" -m venv --without-pip "$folder/venv"
"$python3" -m pip --disable-pip-version-check --python "$folder/venv/bin/python" install --quiet --no-index "$folder"/kernelrl-*.whl

cd /  # where no sources are
version=$(sed -n 's/^project(kernelrl VERSION \([0-9.]*\).*/\1/p' "$source/CMakeLists.txt")
"$folder/venv/bin/python" - "$version" << 'PYTHON'
import importlib.metadata
import importlib.resources
import sys

import kernelrl
import kernelrl.rewards

metadata = importlib.metadata.metadata("kernelrl")
assert metadata["Version"] == sys.argv[1], f"version {metadata['Version']}, the project's is {sys.argv[1]}"
assert metadata.get_all("Requires-Dist") is None, metadata.get_all("Requires-Dist")
assert importlib.resources.files("kernelrl").joinpath("py.typed").is_file()
PYTHON
