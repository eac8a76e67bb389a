#!/usr/bin/env bash
# The run that README.md shows is what this commit gives: the quickstart in full, and every line compared but its time.
#
#   tests/regressions/readme_run.sh BUILD CLONE
set -euo pipefail
build=$1 clone=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/kernelrl_readme_run.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

without_times() { sed -E 's/  ([0-9]+ min )?[0-9.]+ s$//'; }

"$build/bin/kernelrl" --plan quickstart | without_times > run
grep '^iteration ' "$clone/README.md" | without_times > shown
if grep -vxFf run shown; then
  echo "README.md shows these lines, which the run does not have: record it again"
  exit 1
fi
echo "$(wc -l < shown) lines agree"
