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

# The reward changes what a run learns: one that does not weigh differs, and an equal one does not.
[[ $kind == reward ]] || exit 0
learned() {
  local name=acme.first_reward
  [[ $language != python ]] || name=first_reward
  kernelrl --plan plan.toml --set run.name="$1" --set "reward.$name.weight=$2" > "$1.log" 2>&1 || { cat "$1.log" >&2; exit 1; }
  sed 's/"\(time\|perf\|cache\|reward\)[^,}]*,\?//g' "runs/$1/metrics.jsonl"
}
learned paid 0.1 > paid
learned again 0.1 > again
learned unpaid 0 > unpaid
cmp paid again
! cmp -s paid unpaid || { echo "the reward changed nothing"; exit 1; }
