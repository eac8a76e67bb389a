#!/usr/bin/env bash
# two_nodes.sh KERNELRL: a run by a farm of two nodes on this machine, undisturbed and under SIGKILL, and by the local backend.
set -euo pipefail
export KERNELRL=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
ray=$(command -v ray)
nodes=()
finish() { for pid in "${nodes[@]}"; do kill "$pid" || true; done; wait; rm -rf "$work"; }  # SIGTERM: `ray stop` ends others' too
trap finish EXIT

start_node() {
  "$ray" start "$@" --num-cpus=2 --disable-usage-stats --block > "$work/node${#nodes[@]}.log" 2>&1 & nodes+=($!)
  until grep -q "runtime started" "$work/node$((${#nodes[@]} - 1)).log"; do kill -0 "${nodes[-1]}"; sleep 0.5; done
}
start_node --head --node-ip-address=127.0.0.2 --port=6399 --include-dashboard=false --temp-dir="$work/ray"
export RAY_ADDRESS=127.0.0.2:6399
start_node --address=$RAY_ADDRESS --node-ip-address=127.0.0.3

farm() { (cd "$root/clients/python" && python3 -m kernelrl.ray "$@" --port 8099); }
farm up --backend cpu --set backend.cache=off --set run.name=two_nodes_$$ --cpus 1 --replicas 2 > "$work/up.log" 2>&1 || { cat "$work/up.log"; exit 1; }

run() {  # run NAME CHANGE
  mkdir "$work/$1"
  (cd "$work/$1" && "$KERNELRL" --plan "$root/configs/two_turns.toml" --set "$2" \
    --set 'dataset.0.only=["vector_add","relu"]' --set 'dataset.1.only=["vector_add","relu"]' --set dataset.1.count=160 \
    --set policy.model.layers=2 --set policy.model.hidden=64 --set policy.model.heads=2 --set policy.model.ffn=128 \
    --set rollout.groups=4 --set rollout.group_size=8 --set stage.reinforce.iterations=8 \
    --set stage.warm-up.epochs=20 --set stage.warm-up.optimizer.lr=1e-2 > out.log 2>&1) || { cat "$work/$1/out.log"; exit 1; }
}
by_farm='backend={use="remote", members="http://127.0.0.1:8099/members", members_every_s=1, patience_s=120}'
server() { pgrep -f "kernelrl serve.*run.name=two_nodes_$$( |\$)" | head -1; }  # one of this farm
disturb() {
  until grep -q "reinforce 2/8" "$work/killed/out.log" 2> /dev/null; do sleep 0.2; done
  kill -KILL "$(server)"; echo "killed a server"
  until grep -q "reinforce 5/8" "$work/killed/out.log"; do sleep 0.2; done
  kill -KILL "$(ps -o ppid= -p "$(server)" | tr -d ' ')"; echo "killed a replica"
}
run local backend.cache=off
run farm "$by_farm"
disturb & run killed "$by_farm"; wait %%

python3 - "$work" <<'P'
import json, sys
def metrics(name):
    return [{k: v for k, v in json.loads(line).items() if not k.startswith(("time", "perf/"))}
            for line in open(f"{sys.argv[1]}/{name}/runs/two_turns/metrics.jsonl")]
local = metrics("local")
for name in ("farm", "killed"):
    print(f"{name}: {sum(a != b for a, b in zip(local, metrics(name), strict=True))} of {len(local)} iterations differ")
P
