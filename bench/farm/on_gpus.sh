#!/usr/bin/env bash
# on_gpus.sh KERNELRL [GPUS]: scaling.py on a machine with GPUs and 16 cores or more, in 8 minutes:
#   1. cpu, four nodes, by 1, 4 and 16 servers of a core each;
#   2. nvrtc, a node and a server for each GPU;
#   3. nvrtc, one GPU whose servers share it.
# RECORDINGS: a folder for what simulate.py reads. PYTHON: the Python that has ray[serve].
set -uo pipefail
program=$1 gpus=${2:-2} folder=${RECORDINGS:-$(mktemp -d)}
scaling() {
  local seconds=$1 name=$2
  shift 2
  echo "## $name"
  timeout --signal INT --kill-after 20 "$seconds" "${PYTHON:-python3}" "$(dirname "$0")/scaling.py" "$program" --rounds 1 "$@" 2>&1
  echo "($SECONDS s since the start, status $?)"
}
scaling 150 "cpu, by cores" --nodes 4 --servers 1,4,16 --seconds 8 --record "$folder/cpu.json"
scaling 190 "nvrtc, by GPUs" --backend nvrtc --gpus "$gpus" --cpus 8 --seconds 12 --repeat 3 --record "$folder/nvrtc.json"
scaling 120 "nvrtc, servers that share a GPU" --backend nvrtc --gpus 1 --per-gpu 4 --servers 1,4 --cpus 4 --seconds 8 --repeat 0
