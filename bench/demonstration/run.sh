#!/usr/bin/env bash
# Runs configs/h200.toml with one seed, both of its controls, and measures all of them. Each step is left alone once it is done and goes on
# where it stopped, so an interrupted call can be repeated. Runs lie in runs/h200_SEED…, measurements beside them as JSON;
# bench/demonstration/report.py makes a page of them.
#
#   bench/demonstration/run.sh SEED [STEP…]     the steps: learn measure control best_of measure_best_of (all of them if none is named)
#
# KERNELRL is the program, build/release/bin/kernelrl if it is not set; PLAN another plan in the place of configs/h200.toml, with PLANS, the
# folder of control.toml, best_of.toml and other_sizes.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
if (($# < 1)); then
  sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
seed=$1
shift
steps=${*:-learn measure control best_of measure_best_of}
program=${KERNELRL:-build/release/bin/kernelrl}
plan=${PLAN:-configs/h200.toml}
plans=${PLANS:-bench/demonstration}
run=runs/h200_$seed

play() {  # NAME PLAN [KERNELRL_ARGUMENTS…]
  "$program" --plan "$2" --resume --set run.name="$1" --set run.seed="$seed" "${@:3}"
}

# The checkpoint with which a run ended the stage NAME.
checkpoint_after() {  # RUN STAGE
  local step
  step=$(sed -n 's/^{"iteration":\([0-9]*\),"stage":"'"$2"'".*/\1/p' "$1/metrics.jsonl" | sort -n | tail -1)
  printf '%s/checkpoints/step_%06d' "$1" "$step"
}

measure() {  # LABEL CHECKPOINT
  measure_set "$1.train" "$plan" "$2" --tasks train --samples 64 --k 1,16,64
  measure_set "$1.holdout" "$plan" "$2" --tasks holdout --samples 16 --k 1,16
  measure_set "$1.sizes" "$plans/other_sizes.toml" "$2" --tasks train --samples 16 --k 1,16
}

measure_set() {  # NAME PLAN CHECKPOINT KERNELRL_ARGUMENTS…
  local output=${run}_$1.json
  [[ -f $output ]] && return
  "$program" eval --plan "$2" --stage search --set run.seed="$seed" --checkpoint "$3" "${@:4}" --output "$output"
}

for step in $steps; do
  case $step in
    learn) play "h200_$seed" "$plan" ;;
    control) play "h200_${seed}_control" "$plans/control.toml" --from "$(checkpoint_after "$run" warm-up)" ;;
    best_of)
      play "h200_${seed}_best_of" "$plans/best_of.toml" --from "$(checkpoint_after "$run" warm-up)" --set dataset.0.run="${run}_control"
      ;;
    measure)
      bench/demonstration/other_sizes.py runs/other_sizes
      measure warm "$(checkpoint_after "$run" warm-up)"
      measure learned "$(checkpoint_after "$run" refine)"
      ;;
    measure_best_of)
      bench/demonstration/other_sizes.py runs/other_sizes
      measure best_of "$(checkpoint_after "${run}_best_of" best-of)"
      ;;
    *)
      echo "there is no step '$step'" >&2
      exit 2
      ;;
  esac
done
