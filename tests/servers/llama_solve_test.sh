#!/usr/bin/env bash
# `kernelrl solve` searches with a real model behind a real server: a policy that only samples, with a budget in tokens.
#
# usage: llama_solve_test.sh CHECKOUT BUILD
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
cd "$folder"

search=(solve vector_add --endpoint "http://127.0.0.1:$port/v1" --model smollm2
  --set rollout.groups=2 --set rollout.group_size=2 --set rollout.max_tokens=96 --set rollout.turns=2)
code=0
"$kernelrl" "${search[@]}" --tokens 400 > out.txt || code=$?
[[ $code == 0 || $code == 3 ]] # it may well write no right kernel
grep '^vector_add: [0-9]* kernels judged' out.txt
python3 - << 'PYTHON'
import json
lines = [json.loads(line) for line in open("runs/solve_vector_add/metrics.jsonl")]
tokens = [line["budget/answer_tokens"] for line in lines]
assert tokens[-1] >= 400 and all(t < 400 for t in tokens[:-1]), tokens
assert lines[-1]["budget/prompt_tokens"] > 0 and lines[-1]["infra_errors"] == 0, lines[-1]
PYTHON

# A larger budget goes on with it.
iterations=$(wc -l < runs/solve_vector_add/metrics.jsonl)
"$kernelrl" "${search[@]}" --tokens 800 --resume > more.txt || [[ $? == 3 ]]
(($(wc -l < runs/solve_vector_add/metrics.jsonl) > iterations))
