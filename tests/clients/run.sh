#!/usr/bin/env bash
# Sessions of the real clients of docs/environments.md and docs/mcp.md with kernelrl. It installs them with pip, into environments
# below FOLDER that a later call uses again (half a gigabyte each). MODULE_PYTHON names a Python with torch, to try new_task too.
# With RECORD=yes, tests/serve/recordings is written anew (without new_task, as the tests have no torch).
#
# usage: run.sh KERNELRL [FOLDER]
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kernelrl=$(realpath "$1") folder=${2:-/tmp/kernelrl_clients} kernel=$here/../../bench/kernels/row_sum.cu
mkdir -p "$folder"
cd "$folder"
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT

# install NAME PACKAGE...: an environment for each version of mcp that the packages need.
install() {
  [[ -e $1/installed ]] || { python3 -m venv "$1" && "$1/bin/pip" install --quiet "${@:2}" && touch "$1/installed"; }
}
install openenv openenv==0.10.0 openreward==0.1.167
install verifiers "verifiers[openenv]==0.4.0"
install mcp_1 mcp==1.30.0
install mcp_2 mcp==2.3.0

# start FILE COMMAND...: runs it beside; its first line is in FILE afterwards.
start() {
  : > "$1"
  "${@:2}" > "$1" 2> "$1.err" &
  until [[ -s $1 ]]; do
    kill -0 $! || { cat "$1.err"; exit 1; }
    sleep 0.1
  done
}
module=()
if [[ -n ${MODULE_PYTHON:-} && ${RECORD:-} != yes ]]; then
  export KERNELRL_PYTHON=$MODULE_PYTHON
  module=(--module)
fi
start server "$kernelrl" serve --port 0 ${module:+--allow-modules}
start model python3 "$here/fake_model.py" "$kernel"
server=$(sed -n 's/^listening on \(.*\),.*/\1/p' server)

# client TITLE COMMAND: what the command prints, with the server's address as $url, and $mcp speaking on its streams.
client() {
  printf '\n## %s\n' "$1"
  url=$server mcp=("$kernelrl" mcp)
  local recorder=(python3 "$here/recorder.py" "$here/../serve/recordings/${2%_session}.json")
  if [[ ${RECORD:-} == yes && $2 == *_stdio_session ]]; then
    mcp=("${recorder[@]}" "${mcp[@]}")
  elif [[ ${RECORD:-} == yes && $2 == *_session ]]; then
    start recorder "${recorder[@]}" "$server"
    url=http://127.0.0.1:$(cat recorder)
  fi
  "$2" || failed=1
  [[ $url == "$server" ]] || { kill $! && wait $!; }
}

openenv_session() { openenv/bin/python "$here/openenv_client.py" "$url" row_sum "$kernel"; }
openenv_validation() { openenv/bin/openenv validate --url "$url"; }
openreward_session() { openenv/bin/python "$here/openreward_client.py" "$url" row_sum "$kernel"; }

mcp_1_stdio_session() { mcp_1/bin/python "$here/mcp_client.py" "${module[@]}" "${mcp[@]}"; }
mcp_1_http_session() { mcp_1/bin/python "$here/mcp_client.py" "${module[@]}" "$url/mcp"; }
mcp_2_stdio_session() { mcp_2/bin/python "$here/mcp_client.py" "${module[@]}" "${mcp[@]}"; }
mcp_2_http_session() { mcp_2/bin/python "$here/mcp_client.py" "${module[@]}" "$url/mcp"; }

# evaluate TABLES: verifiers, with these tables of its plan and a model that always gives the same kernel.
evaluate() {
  rm -rf runs
  cat > plan.toml << EOF
model = "fake"
push = false
output_dir = "runs"
[client]
base_url = "http://127.0.0.1:$(cat model)/v1"
api_key_var = "FAKE_KEY"
$1
harness = { id = "null" }
runtime = { type = "subprocess" }
EOF
  FAKE_KEY=none verifiers/bin/vf-eval @ plan.toml > log 2>&1 || { tail -30 log; return 1; }
  verifiers/bin/python "$here/show_traces.py" runs
}
verifiers_openenv_session() {
  evaluate "[env.taskset]
id = \"openenv\"
base_url = \"$url\"
resets = [{ problem_id = \"row_sum\" }]
[env.player]"
}
verifiers_nemo_gym_session() {
  rm -rf rows
  "$kernelrl" tasks export --format nemo-gym rows > /dev/null
  grep '"row_sum"' rows/kernelrl.jsonl > row.jsonl
  evaluate "[env.taskset]
id = \"nemo_gym\"
dataset = \"row.jsonl\"
task = { resources_url = \"$url\" }
[env.agent]"
}

failed=0
echo "# $(date +%F), $("$kernelrl" --version | head -1), tests/clients/run.sh"
client "openenv 0.10.0: GenericEnvClient" openenv_session
client "openenv 0.10.0: openenv validate --url" openenv_validation
client "openreward 0.1.167: session" openreward_session
client "verifiers 0.4.0: taskset openenv, 4 turns with the same kernel" verifiers_openenv_session
client "verifiers 0.4.0: taskset nemo_gym" verifiers_nemo_gym_session
client "mcp 1.30.0, standard streams" mcp_1_stdio_session
client "mcp 1.30.0, HTTP" mcp_1_http_session
client "mcp 2.3.0, standard streams" mcp_2_stdio_session
client "mcp 2.3.0, HTTP" mcp_2_http_session
exit "$failed"
