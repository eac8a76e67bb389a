#!/usr/bin/env bash
# What a judge on a port bears: `kernelrl serve` with a backend, `cpu` if none is named, and wrk (Debian's package) beside it on the
# same cores.
#   - known: 2,000 connections that ask for kernels which were judged before
#   - mixed: the same with a new kernel every two hundredth time
#   - new: the same with new kernels only, in turns with the backend alone: `kernelrl eval` of a folder of such kernels
#   - idle: connections that say nothing, while one asks
# Prints requests a second, the 99th percentile, errors, new kernels judged a second, and the server's memory at most.
#
#   bench/serve_load.sh BUILD_FOLDER [SECONDS [BACKEND]]
set -euo pipefail
build=$(realpath "$1") seconds=${2:-10} backend=${3:-cpu}
folder=$(mktemp -d)
trap 'kill "$server" 2> /dev/null || true; rm -rf "$folder"' EXIT
ulimit -n "$(ulimit -Hn)"

"$build/bin/kernelrl" serve --backend "$backend" --port 0 --max-waiting 100000 --set backend.cache=off > "$folder/out" 2> "$folder/errors" &
server=$!
until grep -q listening "$folder/out"; do
  kill -0 "$server" 2> /dev/null || { cat "$folder/errors"; exit 1; }
  sleep 0.05
done
url=$(sed 's/listening on \([^,]*\),.*/\1/' "$folder/out")

# Requests of a hundred kernels, each a comment apart; `new_every`: 0, or how often one is new.
write_requests() {
  cat > "$folder/$1.lua" << LUA
local source = io.open("$(dirname "$0")/kernels/relu.cu"):read("*a"):gsub('\\\\', '\\\\\\\\'):gsub('"', '\\\\"'):gsub('\n', '\\\\n')
math.randomseed(os.time())
local count, new_every, thread = 0, $2, math.random(1e9)
function request()
  count = count + 1
  local mark = count % 100
  if new_every > 0 and count % new_every == 0 then mark = thread .. "_" .. count end
  local body = '{"task": "relu", "source": "' .. source .. '// ' .. mark .. '"}'
  return wrk.format("POST", "/v1/evaluate", {["Content-Type"] = "application/json"}, body)
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("%.0f requests/s, median %.1f ms, 99 %% within %.1f ms; %d errors of status, %d of connections\n",
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
LUA
}

# Evaluations so far, which are those of new kernels.
judged() { python3 -c 'import sys, urllib.request as r, re; print(sum(map(int, re.findall(r"^kernelrl_evaluations_total.* (\d+)$", r.urlopen(sys.argv[1] + "/metrics").read().decode(), re.M))))' "$url"; }

load() {
  printf '%s: ' "$1"
  wrk --threads 1 --connections "$2" --duration "$seconds" --timeout 60 --script "$folder/$3.lua" "$url" | tail -n 1
}

write_requests known 0
write_requests mixed 200
while (($(judged) < 100)); do load "first, so that they are known" 8 known > /dev/null; done
load "known, 64 connections" 64 known
load "known, 2,000 connections" 2000 known
before=$(judged)
load "mixed, 2,000 connections" 2000 mixed
echo "  of these new: $((($(judged) - before) / seconds))/s judged, while wrk and known kernels use the cores"

# Seconds of an evaluation of the first COUNT of the new kernels.
seconds_of() {
  rm -rf "$folder/some" && mkdir "$folder/some"
  for ((i = 0; i < $1; i++)); do
    { cat "$(dirname "$0")/kernels/relu.cu"; echo "// $i"; } > "$folder/some/$i.cu"
  done
  local begin=$(date +%s.%N)
  "$build/bin/kernelrl" eval --backend "$backend" --set cache=off --task relu "$folder/some" > /dev/null
  awk "BEGIN { print $(date +%s.%N) - $begin }"
}
write_requests new 1
for round in 1 2 3; do
  count=$((20 * seconds)) begin=$(seconds_of 1) # which is its start
  alone=$(awk "BEGIN { printf \"%.1f\", ($count - 1) / ($(seconds_of $count) - $begin) }")
  before=$(judged)
  load "new, 2,000 connections" 2000 new > /dev/null
  served=$(awk "BEGIN { printf \"%.1f\", ($(judged) - $before) / $seconds }")
  echo "new kernels: $served/s for 2,000 connections, $alone/s by the backend alone"
done
python3 - "$url" << 'PYTHON'
import resource, socket, sys, time, urllib.request
host, port = sys.argv[1].removeprefix("http://").split(":")
idle = []
try:
    while len(idle) < min(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 50):
        idle.append(socket.create_connection((host, int(port))))
except OSError as error:
    print("no more connections:", error)
begin = time.perf_counter()
urllib.request.urlopen(sys.argv[1] + "/healthz").read()
print(f"idle: {len(idle)} connections held, an answer takes {1000 * (time.perf_counter() - begin):.1f} ms")
PYTHON
echo "memory at most: $(awk '/VmHWM/ { printf "%.0f MB", $2 / 1024 }' "/proc/$server/status")"
kill "$server"
wait "$server"
