#!/bin/sh
# Judges the kernel and writes what it earns to reward.json: `reward` is 0 for a kernel that is not right, else its
# speedup over the naive kernel. If the judge fails there is no such file, since that tells nothing about the kernel.
#
#   test.sh [KERNEL [FOLDER]]
set -u
kernel=${1:-/app/kernel.cu} folder=${2:-/logs/verifier} task=$(dirname "$0")/definition.toml
mkdir -p "$folder"
rm -f "$folder/reward.json"

size=0
[ -f "$kernel" ] && size=$(wc -c < "$kernel")
if [ "$size" -eq 0 ] || [ "$size" -gt 1048576 ]; then
  echo "no kernel of at most 1 MiB in $kernel"
  echo '{"reward": 0, "compiled": 0, "correct": 0}' > "$folder/reward.json"
  exit 0
fi

if [ -n "${KERNELRL_JUDGE_URL:-}" ]; then
  set -- --backend remote --set "servers=[\"$KERNELRL_JUDGE_URL\"]"
  [ -z "${KERNELRL_JUDGE_TOKEN:-}" ] || set -- "$@" --set token_env=KERNELRL_JUDGE_TOKEN
else
  set -- --backend cpu
fi
kernelrl eval "$@" --task "$task" --holdout --reward "$folder/reward.json" --json "$kernel" > "$folder/evaluation.json"
case $? in
  0 | 3) exit 0 ;;  # judged: right, or not right
esac
echo "the kernel could not be judged"
exit 1
