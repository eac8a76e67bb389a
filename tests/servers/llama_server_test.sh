#!/usr/bin/env bash
# The server of the tests answers on the port that it prints, and ends with the process that reads it, even a killed one.
#
# usage: llama_server_test.sh CHECKOUT
set -euo pipefail
server=$1/tests/servers/llama_server.py model=$1/.deps/models/smollm2.gguf
[[ -d $1/.deps/llama_server && -f $model ]] || {
  echo "no server or no model: scripts/setup.sh --tests"
  exit 77
}

# A process that starts the server, tells its port and process, and waits.
exec {told}< <(exec python3 -c '
import signal, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
print(int(server.stdout.readline()), server.pid, flush=True)
signal.pause()' "$server" "$model")
parent=$!
trap 'kill -KILL "$parent" 2> /dev/null || true' EXIT
read -r port pid <&"$told"
python3 -c 'import sys, urllib.request; urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}/health")' "$port"

kill -KILL "$parent"
# Until it is gone, or a zombie that nobody has waited for yet.
while grep --quiet '^State:[[:space:]]*[^Z]' "/proc/$pid/status" 2> /dev/null; do sleep 0.05; done
