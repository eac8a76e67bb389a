#!/usr/bin/env bash
# `kernelrl eval` plays episodes of two turns with a real model behind a real server, and a plan that would train on it is refused.
#
# usage: llama_eval_test.sh CHECKOUT BUILD
set -euo pipefail
checkout=$1 kernelrl=$2/bin/kernelrl model=$1/.deps/models/smollm2
[[ -d $checkout/.deps/llama_server && -f $model.gguf ]] || {
  echo "no server or no model: scripts/setup.sh --tests"
  exit 77
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
exec {server}< <(exec "$checkout/tests/servers/llama_server.py" "$model.gguf" 2> "$folder/server.log")
read -r port <&"$server"

cat > "$folder/plan.toml" << PLAN
include = ["$checkout/configs/remote_llamacpp.toml"]

[policy]
base_url  = "http://127.0.0.1:$port"
tokenizer = "$model"

[rollout]
turns      = 2
max_tokens = 24
batching   = "continuous"

[[dataset]]
use  = "tasks"
path = "$checkout/configs/tasks"
only = ["vector_add", "relu"]
PLAN
"$kernelrl" eval --plan "$folder/plan.toml" --samples 2 --json > "$folder/result.json"
python3 - "$folder/result.json" << 'PYTHON'
import json, sys
result = json.load(open(sys.argv[1]))
tasks = result["sets"][0]["tasks"]
assert sorted(t["id"] for t in tasks) == ["relu", "vector_add"], tasks
assert all(t["episodes"] == 2 for t in tasks), f"answers were lost: {tasks}"
PYTHON

# As text alone: the second turn's prompt cannot be counted, and is sent all the same.
"$kernelrl" eval --plan "$folder/plan.toml" --set policy.dialect=plain --set 'policy.tokenizer=""' --samples 1 --json > "$folder/text.json"
grep -q '"infra_errors":0' "$folder/text.json"

if "$kernelrl" --plan "$folder/plan.toml" > "$folder/run.out" 2>&1; then
  echo "a policy that only samples was trained"
  exit 1
fi
grep -q "policy 'openai' cannot be trained: it only samples" "$folder/run.out"
