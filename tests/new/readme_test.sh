#!/usr/bin/env bash
# Begins a project by `kernelrl new`, and executes the commands of its README as they are printed, each of which must succeed.
#   readme_test.sh BUILD KIND LANGUAGE
set -euo pipefail
build=$1 kind=$2 language=$3
[[ $language != rust ]] || command -v cargo > /dev/null || { echo "skipped: no cargo"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$build/bin:$PATH XDG_DATA_HOME=$work/data XDG_CACHE_HOME=$work/cache CARGO_NET_OFFLINE=true
cd "$work"
kernelrl new "$kind" "acme.first_$kind" $([[ $kind == task ]] || echo "--language $language") --output project
cd project
if grep -rqE 'new_component|NewComponent|new_kind|new_vendor' .; then
  echo "a placeholder is left:"
  grep -rnE 'new_component|NewComponent|new_kind|new_vendor' .
  exit 1
fi
if [[ $language == python ]]; then
  PYTHONPATH=$(kernelrl --share)/python
  export PYTHONPATH
fi
sed -n '/^```$/,/^```$/p' README.md | grep -v '^```' | while IFS= read -r command; do
  echo "\$ $command"
  bash -euo pipefail -c "$command" < /dev/null
done
