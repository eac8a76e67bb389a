#!/usr/bin/env bash
# Runs a plan twice, once undisturbed and once killed (SIGKILL) at random moments and resumed after each, and compares the
# metrics.jsonl of the two, times and caches aside. Ends with 0 if they are the same.
#
#   bench/interruptions.sh PLAN [KILLS] [KERNELRL_ARGUMENTS…]
#   bench/interruptions.sh configs/quickstart.toml 10
#
# The moments spread over the undisturbed run's time; RANDOM_SEED (1) draws others. KERNELRL is the program,
# build/release/bin/kernelrl if it is not set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# < 1)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
plan=$1 kills=${2:-10}
shift $(($# < 2 ? $# : 2))
program=${KERNELRL:-build/release/bin/kernelrl}
RANDOM=${RANDOM_SEED:-1}
runs=$(mktemp -d "${TMPDIR:-/tmp}/interruptions.XXXXXX")
trap 'rm -rf "$runs"' EXIT

# Becomes kernelrl: call it in a subshell.
run() { exec "$program" --plan "$plan" --set run.name="$1" --set run.directory="$runs" "${@:2}" > "$runs/$1.log" 2>&1; }

# What a run must repeat: all but the times and what depends on what was cached.
repeatable() { sed -E 's/"(time|time_s\/[^"]*|perf\/[^"]*|cache\/[^"]*)":[^,}]*,?//g' "$runs/$1/metrics.jsonl"; }

begin=$(date +%s%3N)
(run undisturbed "$@")
whole=$(($(date +%s%3N) - begin))  # ms
echo "undisturbed: $(wc -l < "$runs/undisturbed/metrics.jsonl") iterations in $whole ms"

killed=0
while ((killed < kills)); do
  # Each attempt lives for up to two shares of the whole, so that the kills reach all of it.
  moment=$((RANDOM % (2 * whole / kills) + 200))
  run killed --resume "$@" &
  process=$!
  sleep "$((moment / 1000)).$(printf %03d $((moment % 1000)))"
  if ! kill -KILL $process 2> /dev/null; then
    wait $process
    break
  fi
  wait $process 2> /dev/null || true
  killed=$((killed + 1))
  echo "killed after $moment ms with $(cat "$runs/killed/metrics.jsonl" 2> /dev/null | wc -l) iterations written"
done
(run killed --resume "$@")

if cmp <(repeatable undisturbed) <(repeatable killed); then
  echo "$killed kills: the same $(wc -l < "$runs/killed/metrics.jsonl") lines"
else
  echo "$killed kills: the metrics differ" >&2
  exit 1
fi
