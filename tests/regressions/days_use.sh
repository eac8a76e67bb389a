#!/usr/bin/env bash
# What came up in a day of use, by topic: what kernelrl did then, and what it does now. Prints a table; fails if anything
# has come back. Needs neither a network nor a GPU.
#
#   tests/regressions/days_use.sh BUILD CLONE
set -u
build=$(realpath "$1") clone=$(realpath "$2")
export PATH=$build/bin:$PATH LC_ALL=C.UTF-8 TERM=dumb
kernels=$clone/bench/kernels mistakes=$clone/tests/cli/data/mistakes toy=$build/tests/plugins small=$clone/tests/cli/data/small.toml
work=$(mktemp -d "${TMPDIR:-/tmp}/kernelrl_days_use.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

# try TOPIC THEN PATTERN COMMAND: the first line of the command's output that matches the pattern, or that there is none.
try() {
  local now
  now=$(timeout 60 bash -c "$4" 2>&1 < /dev/null | grep -m1 -E -- "$3")
  if [[ -z $now ]]; then
    now='IT IS BACK'
    failed=1
  fi
  now=${now//$work/…} now=${now//$build/BUILD}
  printf '%-12s | %-58s | %s\n' "$1" "$2" "$(cut -c1-110 <<< "$now")"
}
judge() { echo "kernelrl eval --backend cpu --set cache=off --task $1 $2"; }
run="kernelrl --plan $small --plugin-path $toy --set 'stage.reinforce.until=\"\"' --set stage.reinforce.iterations=100000 --set run.name"
export kernels mistakes toy small run

printf '%-12s | %-58s | %s\n' topic then now
echo '-------------|------------------------------------------------------------|----'
# Runs that end
try stopping 'a closed pipe killed the run without a checkpoint' '^step_' "$run=piped | head -1; ls runs/piped/checkpoints"
try stopping 'a closed terminal killed the run without a checkpoint' '^step_' \
  "$run=hung > out & until grep -q 'iteration 3' out || ! kill -0 \$!; do sleep 0.05; done; kill -HUP \$!; wait \$!; ls runs/hung/checkpoints"
try stopping 'a pipe that closed killed the launcher, not the ranks' '^rc 130' \
  "kernelrl launch -n 1 -- ${run#kernelrl }=launched > >(head -1 > /dev/null); echo rc \$?"
try resuming 'an edited plan.toml of a run was used without a word' 'seed' \
  "sed -i 's/^seed = 0/seed = 99/' runs/piped/plan.toml; kernelrl runs resume piped"
# Runs that learn
try learning 'a run that learned nothing ended without a word' 'nothing was learned' \
  "kernelrl --plan $small --plugin-path $toy --set 'stage.reinforce.until=\"\"' --set stage.reinforce.iterations=4 --set reward.0.weight=0 --set run.name=flat"
try learning 'eval kept no answers, verdicts and reasons' '"verdict"' \
  "kernelrl eval --plan $small --plugin-path $toy --samples 1 --answers a.jsonl > out; cat a.jsonl"
# Verdicts
try advice 'float4 kernels: "accesses are not coalesced"' '^none of 4' \
  "n=0; for k in vector_add relu saxpy scale; do $(judge '$k' "$kernels/\$k.cu") | grep -q 'not coalesced' && n=1; done; [ \$n = 0 ] && echo none of 4"
try 'exit codes' '0 for a wrong kernel' '^rc 3' "$(judge row_sum "$mistakes/not_written.cu"); echo rc \$?"
try 'exit codes' '0 for output on a full device' '^rc 1' "kernelrl --version > /dev/full; echo rc \$?"
try times 'no GPU was named' 'device: emulated Jetson' "$(judge row_sum "$kernels/row_sum.cu")"
try times 'what limits a kernel was not shown' 'limits: latency' "$(judge row_sum "$kernels/row_sum.cu")"
try times 'no H100, B200, L4, RTX 4090; blanks needed quotes' 'emulated RTX 4090' "$(judge row_sum "$kernels/row_sum.cu --set 'gpu=RTX 4090'")"
try times 'the GPUs to choose from were nowhere' 'H200 SXM\|H100 SXM' 'kernelrl plugins show cpu'
try times 'none without a naive kernel' 'us \(estimated\), ' \
  "sed \"/^naive/,/^'''/d\" $clone/configs/tasks/tier1/row_sum.toml > t.toml; $(judge t.toml "$kernels/row_sum.cu")"
try folders 'no speedups' 'ok, .* times the baseline' \
  "mkdir -p f && cp $kernels/relu.cu f; $(judge "$clone/configs/tasks/tier0" f)"
# Beginners
try mistakes 'no directive: "y[1] is -nan"' 'one thread per output element' "$(judge row_sum "$mistakes/no_launch.cu")"
try mistakes 'an output not written: "is -nan"' 'were never written' "$(judge row_sum "$mistakes/not_written.cu")"
try mistakes 'no barrier: "no thread has written it"' 'is a barrier missing' "$(judge row_sum "$mistakes/no_barrier.cu")"
try mistakes 'double* for float32: "c[0] is 15058"' 'its parameter is double' "$(judge vector_add "$mistakes/double_parameters.cu")"
try mistakes 'half* for float32: "c[0] is 15058"' 'its parameter is __half' "$(judge vector_add "$mistakes/half_parameters.cu")"
try mistakes 'cub/cub.cuh: a compile error without a line' '^ok' \
  "(echo '#include <cub/cub.cuh>'; cat $kernels/relu.cu) > cub.cu; $(judge relu cub.cu)"
try mistakes 'wgmma: "ptx assembly aborted", without a name' "line 4: Instruction 'wgmma" "$(judge vector_add "$mistakes/wgmma.cu")"
try mistakes 'a host function: "use @launch"' 'delete the function' "$(judge vector_add "$mistakes/host_function.cu")"
try mistakes 'main(): not what to do instead' 'delete main\(\)' "$(judge vector_add "$mistakes/main.cu")"
try mistakes 'an empty grid: not for which case' 'grid.x is 0.*case rows=29' "$(judge row_sum "$mistakes/empty_grid.cu")"
try mistakes 'a missing kernel: the whole usage' "^1$" "$(judge relu nowhere.cu) 2>&1 | wc -l"
# Plans
printf 'include = ["quickstart.toml", "rewards/kevin.toml"]\n[prompt]\ntemplates = "prompts/compact"\n' > mine.toml
printf 'include = ["rewards/kelvin.toml"]\n' > wrong.toml
try 'any folder' 'built-in presets and prompts were not found' 'mine.toml: no errors' 'kernelrl check mine.toml'
try 'any folder' 'built-in plans were not found' 'quickstart: no errors' 'kernelrl check quickstart'
try 'any folder' 'nothing said where they are' 'share/kernelrl/configs' 'kernelrl check wrong.toml'
try check 'a policy from scratch without pairs: "no errors"' 'needs texts to start with' \
  "kernelrl check quickstart --set 'dataset=[{use=\"tasks\", path=\"tasks\"}]' --set 'stage=[{name=\"a\", kind=\"rl\", iterations=1}]'"
try check 'tasks with role = "warmup": "no errors"' 'no pairs to learn from' \
  "kernelrl check quickstart --set 'dataset=[{use=\"tasks\", path=\"tasks\"}, {use=\"tasks\", path=\"tasks\", role=\"warmup\"}]'"
try check 'no pairs from the kernels of one'\''s own tasks' 'no errors' \
  "kernelrl check quickstart --set 'dataset=[{use=\"tasks\", path=\"tasks\"}, {use=\"tasks\", path=\"tasks\", role=\"warmup\", pairs=true}]'"
# The rest
try servers 'a server that is down: silence for a minute' 'waiting for a server' \
  'timeout 20 kernelrl doctor openai --limit 3 --set base_url=http://127.0.0.1:9'
try names 'no way to see a task' 'in float x\[rows, cols\]' 'kernelrl tasks show row_sum'
try names 'plugins show reward.speedup: unknown' "reward 'speedup'" 'kernelrl plugins show reward.speedup'
try documents 'names of values: in a source file' '^all' "$(judge row_sum "$kernels/row_sum.cu") --json | grep -oE '\"name\":\"[a-z0-9_]+\"' \
  | cut -d'\"' -f4 | grep -v row_sum | sed 's/executed_.*/executed_CLASS/; s/share_.*/share_BOUND/' | sort -u \
  | while read v; do grep -q \"\\\`\$v\\\`\" $clone/docs/values.md || echo \$v; done | grep . || echo all"
exit $failed
