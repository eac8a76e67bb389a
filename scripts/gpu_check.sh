#!/usr/bin/env bash
# Runs every test and benchmark that needs a GPU from a finished build, and writes one report. It builds nothing and needs
# no network, so the build may come from another machine.
#
#   scripts/gpu_check.sh [BUILD [REPORT]]   default: build/bench, gpu_report.md
#
# If python3 has PyTorch with CUDA, the usual evaluator is timed for comparison; if it has transformers, also its generation and
# training. COMMIT identifies the build if there is no git repository. TIMES: how often recovery meets each broken kernel (50);
# SECONDS_OF_KILLS: how long processes are killed (60); SECONDS_OF_ATTACKS: how long scripts/red_team.py searches (300).
# KERNELS: number of kernels for the usual evaluator (5), which takes half a minute for each.
# SMOLLM2: the model's directory, default .deps/models/smollm2.
# SECTIONS: runs those only whose titles match this extended regular expression.
# The exit code is that of the tests.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-build/bench} report=${2:-gpu_report.md}

for program in tests/gpu_test bench/gpu_bench; do
  [[ -x $build/$program ]] && continue
  echo "scripts/gpu_check.sh: no $build/$program: build with cmake --preset bench && cmake --build --preset bench" >&2
  exit 2
done

# section TITLE COMMAND…: runs it, and puts its output into the report.
section() {
  local title=$1 code began=$SECONDS
  shift
  [[ $title =~ ${SECTIONS:-} ]] || return 0
  echo "== $title"
  {
    printf '\n## %s\n```\n$ %s\n' "$title" "${*/#$build\//}"
    "$@" 2>&1
    code=$?
    printf '```\nIt took %s s' $((SECONDS - began))
    ((code == 0)) || printf ' and ended with code %s' "$code"
    printf '.\n'
  } >> "$report"
  return "$code"
}

{
  echo "# On a GPU"
  echo
  echo "$(date -u +%Y-%m-%d), commit ${COMMIT:-$(git describe --always --dirty 2> /dev/null || echo unknown)}, $(nproc) cores"
} > "$report"
section "The GPU" nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv
section "Tests" "$build/tests/gpu_test" --gtest_brief=1
tests=$?
for sizes in '' real; do
  section "Is timing honest?${sizes:+ At real sizes}" "$build/bench/gpu_bench" $sizes honest
  section "Is 5 % more work found?${sizes:+ At real sizes}" "$build/bench/gpu_bench" $sizes slower
  section "Throughput${sizes:+ at real sizes}" "$build/bench/gpu_bench" $sizes throughput
done
section "Naive kernels and those by hand at real sizes" "$build/bench/gpu_bench" headroom
section "The second ones by hand" "$build/bench/gpu_bench" headroom bench/kernels/second
if python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2> /dev/null; then
  kernels=$(mktemp -d)
  "$build/bench/gpu_bench" export "$kernels" "${KERNELS:-5}" && section "The usual evaluator" bench/load_inline.py "$kernels"
  rm -rf "$kernels"
fi
section "A search for kernels that fool the judge" scripts/red_team.py --kernelrl "$build/bin/kernelrl" --backend nvrtc --seconds "${SECONDS_OF_ATTACKS:-300}" \
  --jobs 4 --slack 1.2 || tests=1
section "Recovery" "$build/bench/gpu_bench" recovery "${TIMES:-50}"
section "Killed processes" "$build/bench/gpu_bench" kills "${SECONDS_OF_KILLS:-60}"
section "The cpu backend against the GPU" "$build/bench/gpu_bench" agreement 160 "${report%.md}.csv"
section "Counters" "$build/bench/gpu_bench" counters
# The last output of ncu is kept beside the report, as FILE.ncu.csv.
if ncu=$(command -v ncu); then
  wrapped=$(mktemp -d)
  cat > "$wrapped/ncu" << EOF
#!/usr/bin/env bash
"$ncu" "\$@"
code=\$?
while ((\$# > 1)); do
  [[ \$1 != --log-file ]] || cp "\$2" "$(realpath -m "${report%.md}.ncu.csv")"
  shift
done
exit \$code
EOF
  chmod +x "$wrapped/ncu"
  PATH=$wrapped:$PATH section "The deep mode against CUPTI" "$build/bench/gpu_bench" deep
  rm -rf "$wrapped"
fi

# The local policy is linked with libtorch_cuda, which starts only where all of its libraries are installed (scripts/setup.sh --gpu).
if "$build/tests/policy_gpu_test" --gtest_list_tests > /dev/null 2>&1; then
  section "Tests of the policy" "$build/tests/policy_gpu_test" --gtest_brief=1 || tests=1
  transformers=$(python3 -c 'import transformers; print("yes")' 2> /dev/null)
  for model in smollm2-135m qwen2.5-1.5b; do
    batches=64,256,512
    [[ $model == smollm2-135m ]] || batches=64,256
    section "Generation, $model" "$build/bench/generation_bench" --model "$model" --batch "$batches"
    section "Generation of unequal lengths, $model" "$build/bench/generation_bench" --model "$model" --batch "$batches" --continuous
    [[ -z $transformers ]] || section "Generation by Hugging Face, $model" bench/hf_generate.py --model "$model" --batch "$batches"
    section "Training, $model" "$build/bench/training_bench" "$model"
    [[ -z $transformers ]] || section "Training by Hugging Face, $model" bench/hf_train.py "$model"
  done
  for model in qwen2.5-1.5b qwen2.5-14b; do
    section "Adapters of low rank, $model" "$build/bench/lora_bench" "$model" 16
  done
  smollm2=${SMOLLM2:-.deps/models/smollm2}
  if [[ -f $smollm2/model.safetensors ]]; then
    section "What bfloat16 changes" "$build/bench/noise_bench" "$smollm2"
    [[ -z $transformers ]] || section "What bfloat16 changes in transformers" bench/hf_noise.py "$smollm2"
  fi
  gpus=$(nvidia-smi -L | wc -l)
  ((gpus < 2)) || NCCL_NVLS_ENABLE=0 section "Several GPUs" "$build/bench/ranks_bench" 1 "$gpus"
fi
echo "$report"
exit "$tests"
