#!/usr/bin/env bash
# Runs a plan with several seeds and prints what each run learned: means over the first and the last three reinforcement
# iterations, from metrics.jsonl. Runs lie in runs/LABEL_seed_N; one that is there already goes on, or is only read if it is
# finished, so an interrupted call can be repeated.
#
#   bench/learning_curves.sh PLAN LABEL "SEEDS" [KERNELRL_ARGUMENTS…]
#   bench/learning_curves.sh configs/quickstart.toml quickstart "17 18 19 20 21"
#   bench/learning_curves.sh configs/quickstart.toml control "17" --set learn.optimizer.lr=0 --set learn.optimizer.min_lr=0
#
# KERNELRL is the program, build/release/bin/kernelrl if it is not set.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if (($# < 3)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
plan=$1 label=$2 seeds=$3
shift 3
program=${KERNELRL:-build/release/bin/kernelrl}

# One line for a run, and beside it what is measured with several turns and on held-out tasks.
summarise() {
  awk -v seed="$1" '
    function value(name, line,    text) {
      if (!match(line, "\"" name "\":[^,}]*")) return ""
      text = substr(line, RSTART, RLENGTH)
      sub(/.*:/, "", text)
      return text == "null" ? "" : text
    }
    # Over the iterations from..to that measured it.
    function mean(name, from, to,    i, sum, n, v) {
      for (i = from; i <= to; i++) if ((v = value(name, lines[i])) != "") { sum += v; n++ }
      return n ? sum / n : 0
    }
    function first(name) { return mean(name, 1, 3) }
    function last(name) { return mean(name, n - 2, n) }
    /"kernel\/pass_rate":/ { lines[++n] = $0 }
    { seconds += value("time_s/iteration", $0) }
    END {
      if (n < 6) { printf "seed %s: only %d reinforcement iterations\n", seed, n; exit }
      pass = "kernel/pass_rate"; speed = "kernel/speedup_capped"
      printf "seed %-4s pass_rate %.3f -> %.3f (%+.3f)  speedup_capped %.3f -> %.3f (x %.2f)  %d iterations, %.0f s\n",
        seed, first(pass), last(pass), last(pass) - first(pass), first(speed), last(speed),
        first(speed) ? last(speed) / first(speed) : 0, n, seconds
      if (value("turn_1/pass_rate", lines[n]) != "")
        printf "          last three: turn 1 passes %.3f, turn 2 %.3f, some turn %.3f\n",
          last("turn_1/pass_rate"), last("turn_2/pass_rate"), last("kernel/pass_rate_any")
      line = lines[n]
      while (match(line, /"holdout\/[^"]*\/pass_rate":/)) {
        name = substr(line, RSTART + 1, RLENGTH - 3)
        line = substr(line, RSTART + RLENGTH)
        printf "          %s %.3f -> %.3f\n", name, value(name, lines[1]), value(name, lines[n])
      }
    }' "runs/${label}_seed_$1/metrics.jsonl"
}

for seed in $seeds; do
  "$program" --plan "$plan" --resume --set run.name="${label}_seed_$seed" --set run.seed="$seed" "$@" > /dev/null
  summarise "$seed"
done
