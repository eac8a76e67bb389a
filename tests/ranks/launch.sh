#!/bin/bash
# `kernelrl launch` runs a plan on two processes of this machine, ends them together, and resumes.
. "$(dirname "$0")/plan.sh" "$@"
trap 'rm -rf "$work"' EXIT

# To its end; what they print says who says it.
"$kernelrl" launch -n 2 "${plan[@]}" >whole.log 2>&1 || fail "two ranks do not end well"
[ "$(iterations)" = 2 ] || fail "there are $(iterations) iterations, not 2"
says whole.log "[0] " || fail "lines do not begin with their rank"
[ "$(ls runs)" = swap ] || fail "there are several run directories: $(ls runs)"
rm -r runs

# A rank is killed: all end, with its name, and one alone goes on from there.
"$kernelrl" launch -n 2 -- "${plan[@]}" --set stage.reinforce.iterations=1000 >killed.log 2>&1 &
launcher=$!
wait_for_iterations 2 $launcher
rank1=$(pgrep -P $launcher | tail -1)
kill -KILL "$rank1"
await $launcher
[ $code = 137 ] || fail "the exit code is not that of the rank that failed"
says killed.log "rank 1 was killed by signal 9" || fail "the launcher does not say what happened"
done_before=$(iterations)
"$kernelrl" "${plan[@]}" --set stage.reinforce.iterations=$((done_before + 2)) --resume \
  >resumed.log 2>&1 || fail "one process does not go on where two were"
[ "$(iterations)" = $((done_before + 2)) ] || fail "it did not do what was left"
rm -r runs

# SIGTERM stops all of them in order, with a checkpoint.
"$kernelrl" launch -n 2 -- "${plan[@]}" --set stage.reinforce.iterations=1000 >stopped.log 2>&1 &
launcher=$!
wait_for_iterations 1 $launcher
kill -TERM $launcher
await $launcher
[ $code = 130 ] || fail "an interrupted launch ends by $code"
says stopped.log "resume with: " || fail "it does not say how to resume"

# A plan that is wrong ends all at once.
code=0
"$kernelrl" launch -n 2 -- --plan nowhere.toml >wrong.log 2>&1 || code=$?
[ "$code" = 2 ] || fail "a wrong plan ends by $code"

# Half of a launcher's variables is refused by name.
code=0
RANK=0 WORLD_SIZE=2 "$kernelrl" "${plan[@]}" >half.log 2>&1 || code=$?
[ "$code" != 0 ] || fail "half of the variables is accepted"
says half.log "LOCAL_RANK is not set" || fail "the missing variable is not named"
