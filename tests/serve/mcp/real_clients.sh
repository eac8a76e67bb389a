#!/usr/bin/env bash
# Runs the clients of the MCP package, both generations, against the program over both transports, prints what came, and
# records what they send in tests/serve/mcp/recorded, which ../mcp_test.py replays. Needs the network; MODULE_PYTHON names a Python
# with torch, to try new_task too.
#
#   tests/serve/mcp/real_clients.sh build/release/bin/kernelrl > bench/results/mcp_clients.md
set -euo pipefail
program=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
tmp=$(mktemp -d)
trap 'kill $server $recorder 2> /dev/null || true; rm -rf "$tmp"' EXIT
server= recorder=
module=()
if [[ -n ${MODULE_PYTHON:-} ]]; then
  export KERNELRL_PYTHON=$MODULE_PYTHON
  module=(--module)
fi

# session NAME WORDS…: one session of the client in $python; the recording is kept without modules, as CI has no torch.
session() {
  echo '```'
  "$python" "$here/session.py" "${module[@]}" "${@:2}"
  echo '```'
  grep -v leaky_rowmax "$tmp/$1.jsonl" > "$here/recorded/$1.jsonl"
}

echo "# MCP clients"
echo
echo "Printed by \`tests/serve/mcp/real_clients.sh\` on $(date -u +%Y-%m-%d), $("$program" --version | sed 's/-dirty//')."
for version in 1.30.0 2.3.0; do
  python3 -m venv "$tmp/$version"
  python=$tmp/$version/bin/python
  "$python" -m pip install -q --disable-pip-version-check "mcp==$version" >&2
  echo
  session "$version-stdio" "$python" "$here/recorder.py" "$tmp/$version-stdio.jsonl" "$program" mcp
  "$program" serve --port 0 --allow-modules > "$tmp/$version-url" &
  server=$!
  until grep -q listening "$tmp/$version-url"; do sleep 0.1; done
  url=$(sed 's/listening on \(.*\), judging.*/\1/' "$tmp/$version-url")/mcp
  "$python" "$here/recorder.py" "$tmp/$version-http.jsonl" "$url" > "$tmp/$version-front" &
  recorder=$!
  until [[ -s $tmp/$version-front ]]; do sleep 0.1; done
  session "$version-http" "$(cat "$tmp/$version-front")"
  kill $server $recorder
  wait $server $recorder 2> /dev/null || true
done
