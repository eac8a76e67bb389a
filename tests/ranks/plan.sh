# Sourced by the tests of this folder: a plan that trains a real, tiny model in the toy world, and
# what there is to look at while it runs. Arguments of the tests: the build, the sources.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/kernelrl-ranks-XXXXXX")
cd "$work"

plan=(--plan "$source/tests/plans/swap.toml" --plugin-path "$build/tests/plugins")
for setting in policy.use=libtorch policy.threads=1 policy.model.layers=1 policy.model.hidden=32 \
    policy.model.heads=2 policy.model.ffn=64 policy.model.context=256 policy.ranks.timeout_s=3 \
    stage.warm-up.epochs=1 checkpoint.every=1; do
  plan+=(--set "$setting")
done
kernelrl=$build/bin/kernelrl
metrics=runs/swap/metrics.jsonl

fail() {
  echo "FAILED: $*" >&2
  for log in "$work"/*.log; do
    echo "--- $log"
    cat "$log"
  done >&2
  exit 1
}

# says FILE TEXT: whether the file has the text.
says() {
  grep -qF -- "$2" "$1"
}

# iterations: how many of the reinforcement there are so far.
iterations() {
  if [ -e "$metrics" ]; then grep -c '"reinforce"' "$metrics" || true; else echo 0; fi
}

# wait_for_iterations N PID: until there are N, as long as the process runs.
wait_for_iterations() {
  until [ "$(iterations)" -ge "$1" ]; do
    kill -0 "$2" 2>/dev/null || fail "the run ended before iteration $1"
    sleep 0.1
  done
}

# await PID: until it has ended; $code is its exit code. (Only its parent can wait for it: no
# subshell.)
await() {
  code=0
  wait "$1" || code=$?
}
