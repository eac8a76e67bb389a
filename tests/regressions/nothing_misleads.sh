#!/usr/bin/env bash
# What once misled in silence, one call after another: a preset replaced, a built-in taken over, a resume that began another
# run, a run whose every evaluation failed and that "finished". Each point says what was seen; the exit code is 0 if all is
# as it should be.
#
# usage: nothing_misleads.sh BUILD [POINT…]      POINT: H1, M5, …; all by default
set -u
build=$(realpath "$1")
source=$(realpath "$(dirname "$0")/../..")
components=$build/tests/broken/components
export PATH=$build/bin:$PATH LC_ALL=C.UTF-8 TERM=dumb
unset KERNELRL_PLUGIN_PATH
tmp=$(mktemp -d "${TMPDIR:-/tmp}/kernelrl-misleads-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
failed=0

# ---- what a point is made of ----------------------------------------------------------------------------------------

# call WORDS…: runs them; what they print is in `out`, their exit code in $code.
call() {
  code=0
  { timeout --kill-after=5 60 "$@" > out 2>&1 < /dev/null || code=$?; } 2> /dev/null  # bash tells of crashes, too
}
# world WORDS…: the plan whose components are broken on demand.
world() { call kernelrl --plan "$source/tests/broken/world.toml" --plugin-path "$components" "$@"; }
broken() { # TABLE DEFECT [WORDS…]
  world --set "$1.defect=\"$2\"" "${@:3}"
}
wrong() { # TEXT: what was seen is not what should be
  seen=wrong
  echo "    WRONG: $*"
  [[ -s out ]] || return
  sed 's/^/    | /' out | cut -c1-300 | tail -${LINES_SHOWN:-25}
  : > out  # shown once
}
exits() { [[ " $* " == *" $code "* ]] || wrong "exit code $code, not $*"; }
says() { grep -qF -- "$1" "${2:-out}" || wrong "does not say: $1"; }
says_one_of() { # REGEX
  grep -qE -- "$1" "${2:-out}" || wrong "does not say: $1"
}
never_says() { ! grep -qF -- "$1" "${2:-out}" || wrong "says: $1"; }
iterations() { # RUN N
  local n=0
  [[ ! -e runs/$1/metrics.jsonl ]] || n=$(wc -l < "runs/$1/metrics.jsonl")
  [[ $n == "$2" ]] || wrong "$n iterations of $1, not $2"
}
# until_true WORDS…: waits for a condition, at most for a minute.
until_true() {
  for ((i = 0; i < 600; ++i)); do
    "$@" && return
    sleep 0.1
  done
  wrong "waited in vain for: $*"
}
# quickstart: a copy of configs/quickstart.toml for another folder.
quickstart() {
  sed "s#\"rewards/#\"$source/configs/rewards/#; s#\"prompts/#\"$source/configs/prompts/#; s#^path = \"tasks\"#path = \"$source/configs/tasks\"#" \
    "$source/configs/quickstart.toml"
}
# plugin DEFECT: a folder with a file that has it as it is loaded.
plugin() {
  mkdir -p "$1"
  cp "$build/tests/broken/at_load/at_load.krl.so" "$1/$1.krl.so"
}

# ---- the points -----------------------------------------------------------------------------------------------------

H1() { # A plan's list replaces the one of a preset.
  quickstart > mine.toml
  printf '[[reward]]\nuse = "broken.reward"\n' >> mine.toml
  for how in check --dry-run; do
    [[ $how == check ]] && call kernelrl check mine.toml --plugin-path "$components"
    [[ $how == check ]] || call kernelrl --plan mine.toml --plugin-path "$components" --dry-run
    exits 0
    says replaces
    says rewards/quickstart.toml
  done
}

H2() { # A stranger's reward has the id of a built-in one: it is left out, and named, unless the plan takes it.
  plugin builtin_id
  world --plugin-path builtin_id --set 'reward=[{use="speedup"}]'
  exits 0
  says builtin_id.krl.so
  [[ $(grep -c '"reward/speedup/mean":0.5,' runs/broken/metrics.jsonl) != 4 ]] || wrong "it is the stranger's"
  world --plugin-path builtin_id --set 'reward=[{use="speedup"}]' --set 'plugins.replace=["reward.speedup"]' --set run.name=taken
  exits 0
  says builtin_id.krl.so
  [[ $(grep -c '"reward/speedup/mean":0.5,' runs/taken/metrics.jsonl) == 4 ]] || wrong "it is not the stranger's"
}

H3() { # The printed hint to resume goes on with the same run, from another folder.
  kernelrl --plan "$source/tests/broken/world.toml" --plugin-path "$components" --set run.name=x \
    --set stage.reinforce.iterations=40 --set 'reward.0.defect="slow"' > out 2>&1 &
  until_true test -s runs/x/metrics.jsonl
  kill -INT $!
  wait $!
  code=$?
  exits 130
  hint=$(grep -o 'resume with: .*' out | head -1)
  [[ -n $hint ]] || wrong "no hint"
  mkdir elsewhere
  hint=${hint#resume with: }
  (cd elsewhere && KERNELRL_TEST_REPAIRED=1 timeout 60 bash -c "${hint%; results in*}") > out 2>&1
  code=$?
  exits 0
  iterations x 40
}

H4() { # A run records the folders of its plugins: its name is enough to go on.
  broken reward.0 throw --set run.name=y
  exits 1
  KERNELRL_TEST_REPAIRED=1 call kernelrl runs resume y
  exits 0
  iterations y 4
}

H5() { # KRL_UNAVAILABLE is tried again, whatever the kind.
  for component in reward.0 dataset.0 policy backend; do
    broken "$component" unavailable --set "$component.from=1" --set "$component.times=1" --set run.name="${component%.0}"
    exits 0
    iterations "${component%.0}" 4
  done
}

H6() { # A run whose every evaluation fails ends with the first cause.
  broken backend unavailable --set backend.from=1
  exits 1
  says "server away"
  says_one_of 'infra|lost'
}

H7() { # A default outside of its own range is found when the plugin is loaded.
  plugin default_out_of_range
  call kernelrl plugins list --plugin-path default_out_of_range
  says default_out_of_range.krl.so
  says "'limit'"
  world --plugin-path default_out_of_range --set 'reward=[{use="broken.at_load"}]'
  exits 2
}

H8() { # A table of another kind or size is refused before it is used.
  for defect in kind_of_policy table_size_0 table_size_8 field_size_0; do
    plugin $defect
    call kernelrl plugins list --plugin-path $defect
    exits 0
    says "not loaded: $PWD/$defect/$defect.krl.so"
  done
  call kernelrl doctor broken.at_load --plugin-path kind_of_policy
  exits 2
}

H9() { # What a start finds points at its key, exits 2, and leaves nothing in the way of the next try.
  local plan=(kernelrl --plan "$source/configs/quickstart.toml" --set run.name=q --set stage.warm-up.epochs=1
    --set dataset.templates.count=32 --set stage.reinforce.iterations=1 --set rollout.groups=1)
  quickstart | sed 's/heads *= *[0-9]*/heads = 3/' > q.toml
  call kernelrl --plan q.toml
  exits 2
  says_one_of 'q\.toml:[0-9]+:[0-9]+: error'
  says_one_of '^ +[0-9]+ \|.*heads'
  [[ ! -e runs/q ]] || wrong "runs/q is left"
  call "${plan[@]}"
  exits 0
}

M1() { # --set names a stranger's component by its id, dots and all.
  world --dry-run --set reward.broken.reward.weight=2
  exits 0
  says_one_of 'weight *= *2'
  world --dry-run --set 'reward."broken.reward".weight=3'
  exits 0
  says_one_of 'weight *= *3'
}

M2() { # A crash, an exit or a hang in a plugin names kind, id, call and file.
  for defect in segfault abort "exit 5" "exit 0"; do
    broken reward.0 "$defect" --set run.name="${defect// /_}"
    [[ $code != 0 ]] || wrong "exit code 0"
    for where in out "runs/${defect// /_}/logs.log"; do
      says "reward 'broken.reward'" "$where"
      says score "$where"
      says reward.krl.so "$where"
    done
  done
  kernelrl --plan "$source/tests/broken/world.toml" --plugin-path "$components" --set run.name=hang \
    --set 'reward.0.defect="hang"' > out 2>&1 &
  until_true grep -qs "broken.reward" runs/hang/logs.log
  says "reward 'broken.reward'" runs/hang/logs.log
  kill -KILL $!
  wait $! 2> /dev/null
}

M3() { # doctor: 0 for what works, of every kind; 1 for what does not.
  call kernelrl doctor broken.policy --plugin-path "$components"
  exits 0
  call kernelrl doctor broken.dataset --plugin-path "$components"
  exits 0
  call kernelrl doctor broken.reward --plugin-path "$components"
  exits 0
  call kernelrl doctor broken.reward --plugin-path "$components" --set 'defect="refused"' --set at=create --set from=1
  exits 1
}

M4() { # An installation needs nothing of the clone.
  call "$source/tests/installed/installed.sh" "$build" "$source"
  if [[ $code == 77 ]]; then
    echo "    not tried here: $(cat out)"
    return
  fi
  exits 0
}

M5() { # A finished run can be made longer.
  world --set run.name=longer
  exits 0
  call kernelrl runs resume longer --plugin-path "$components" --set stage.reinforce.iterations=6
  exits 0
  iterations longer 6
}

M6() { # Ctrl-C is acknowledged at once, while a call still lasts.
  kernelrl --plan "$source/tests/broken/world.toml" --plugin-path "$components" --set run.name=c \
    --set 'reward.0.defect="until cancelled"' > out 2>&1 &
  until_true test -e lasting
  cp out before
  kill -INT $!
  until_true bash -c '! cmp -s out before'
  says_one_of '[Ss]top|[Ii]nterrupt|Ctrl-C'
  kill -INT $!
  wait $!
}

M7() { # What was pushed without a value is unknown, never 0.
  broken backend "zeroed case" --set backend.from=1
  exits 0
  ! grep -q '"kernel/speedup_capped":0' runs/broken/metrics.jsonl || wrong "a speedup of 0 that nobody measured"
}

M8() { # Scores and losses that are not finite, or overflow, end the run.
  broken reward.0 1e308 --set run.name=score
  exits 1
  says "reward 'broken.reward'"
  broken policy "nan loss" --set policy.at=forward_backward --set policy.from=1 --set run.name=loss
  exits 1
  says loss
  broken policy "nan gradient" --set policy.at=optimizer_step --set policy.from=1 --set run.name=gradient
  exits 1
  says grad_norm
}

M9() { # Folders that are not there, and files in their place, are said.
  call kernelrl plugins list --plugin-path "$PWD/nowhere"
  says "$PWD/nowhere"
  KERNELRL_PLUGIN_PATH=$PWD/nowhere2 call kernelrl plugins list
  says "$PWD/nowhere2"
  call kernelrl plugins list --plugin-path "$components/reward.krl.so"
  says "$components/reward.krl.so"
  call kernelrl --plan "$source/tests/broken/world.toml" --plugin-path "$PWD/nowhere"
  exits 2
  says "$PWD/nowhere"
}

M10() { # Errors of a dataset name it and its place in the plan.
  for defect in "bad definition" pairs documents "same id" "other definition"; do
    broken dataset.0 "$defect" --set dataset.0.from=1 --set "run.name=${defect// /_}"
    exits 2
    says broken.dataset
    says world.toml:
    never_says except
  done
  broken dataset.0 endless --set dataset.0.at=size --set dataset.0.from=1
  exits 1 2
  says broken.dataset
}

M11() { # check looks at what is cheap to look at.
  call kernelrl check "$source/configs/quickstart.toml" --set dataset.tasks.path=nowhere
  exits 2
  says nowhere
  call kernelrl check "$source/configs/quickstart.toml" --set rollout.max_tokens=100000
  says max_tokens
}

M12() { # A plugin's wish for threads is capped.
  broken backend "100000 threads" --set backend.at=describe --set backend.from=1
  exits 0
  says 100000 runs/broken/logs.log
}

M14() { # logs.log holds what ended the run.
  broken reward.0 nan
  exits 1
  says "it gave nan" runs/broken/logs.log
}

M15() { # A plugin's standard output is kept apart.
  kernelrl eval --plan "$source/tests/broken/world.toml" --plugin-path "$components" --set 'reward.0.defect="print"' \
    --set 'backend.defect="print"' --set backend.from=1 --set reward.0.from=1 --json > json 2> out
  code=$?
  exits 0
  python3 -c 'import json, sys; json.load(open("json"))' 2>> out || wrong "what --json printed is no JSON"
  says "a stranger's line on standard output"
}

M16() { # Words that TOML would read as something else are words.
  for word in 4layers 2026-11-22 nan inf; do
    world --dry-run --set run.name=$word
    exits 0
    says "$word"
  done
}

# ---- all of them ----------------------------------------------------------------------------------------------------

points=("${@:2}")
[[ ${#points[@]} != 0 ]] || points=(H1 H2 H3 H4 H5 H6 H7 H8 H9 M1 M2 M3 M4 M5 M6 M7 M8 M9 M10 M11 M12 M14 M15 M16)
for point in "${points[@]}"; do
  mkdir "$tmp/$point"
  cd "$tmp/$point" || exit 1
  echo "$point  $(sed -n "s/^$point() { # //p" "$source/tests/regressions/nothing_misleads.sh")"
  seen=right
  $point
  [[ $seen == right ]] || failed=$((failed + 1))
done
echo "${#points[@]} points, $failed wrong"
[[ $failed == 0 ]]
