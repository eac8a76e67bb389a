#!/usr/bin/env bash
# Formats the sources with clang-format 14; other versions give different results. Kernels under tests/ are candidates and
# keep the form in which they were written.
#
#   scripts/format.sh           rewrites every source that is not formatted
#   scripts/format.sh --check   changes nothing: reports what it would change, and fails if there is anything
#
# Both then report comments that begin like fragments (scripts/comments.py), and fail if there are any.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1-} in
  '') mode=(-i) ;;
  --check) mode=(--dry-run --Werror) ;;
  *)
    echo "scripts/format.sh: unknown option '$1'; the only one is --check" >&2
    exit 2
    ;;
esac
git ls-files -z --cached --others --exclude-standard -- \
  '*.c' '*.cpp' '*.h' '*.hpp' '*.inc' 'bench/*.cu' 'plugins/*.cu' |
  xargs -0 -n 100 -P "$(nproc)" clang-format-14 "${mode[@]}"
scripts/comments.py >&2
