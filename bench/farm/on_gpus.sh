#!/usr/bin/env bash
# on_gpus.sh KERNELRL [GPUS]: scaling.py on a machine with GPUs and 16 cores or more, in 8 minutes: cpu by 1, 4 and 16 servers of a
# core each; nvrtc by GPUs, a node and a server for each; nvrtc by servers that share a GPU.
# RECORDINGS: a folder for what simulate.py reads. PYTHON: the Python that has ray[serve].
set -euo pipefail
gpus=${2:-2}
"${PYTHON:-python3}" -c 'import ray.serve'
exec timeout --kill-after 20 "${LIMIT:-500}" "${PYTHON:-python3}" "$(dirname "$0")/scaling.py" "$1" --gpus "$gpus" --rounds 1 \
  --seconds 8 --repeat 3 ${RECORDINGS:+--record "$RECORDINGS"} cpu:1:0:1,4,16 "nvrtc:8:1:1,$gpus" nvrtc:4:0.25:1,4:sizes=small
