#!/usr/bin/env bash
# Sets up, builds and runs every test, in three builds:
#   ci     release: all tests; the benchmarks are built
#   dev    AddressSanitizer and UndefinedBehaviorSanitizer: all tests
#   tsan   ThreadSanitizer: the core's tests (without libtorch, whose own threads it cannot see into)
# Everything is tried even if something before fails. The last line sums up.
#
#   scripts/test.sh               all three
#   scripts/test.sh --quick       the first
#   scripts/test.sh dev tsan      those named
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

passed=0 failed=0 skipped=0

build() {
  echo "== $1: building"
  cmake --preset "$1" --log-level=WARNING && cmake --build --preset "$1" -- --quiet
}

# The number after NAME= in the head of a JUnit report.
count() { sed -n "/<testsuite /,/>/s/.*\b$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

run_tests() {
  local report=$PWD/build/$1/tests.xml all
  echo "== $1: testing"
  rm -f "$report"
  ctest --preset "$1" --parallel "$(nproc)" --no-tests=error --output-junit "$report" || true
  if [[ ! -s $report ]]; then
    failed=$((failed + 1))
    return
  fi
  all=$(count tests "$report")
  failed=$((failed + $(count failures "$report")))
  skipped=$((skipped + $(count skipped "$report") + $(count disabled "$report")))
  passed=$((passed + all - $(count failures "$report") - $(count skipped "$report") - $(count disabled "$report")))
}

presets=()
for word in "$@"; do
  case $word in
    --quick) presets+=(ci) ;;
    ci | dev | tsan) presets+=("$word") ;;
    *)
      echo "scripts/test.sh: unknown word '$word'; known are --quick, ci, dev, tsan" >&2
      exit 2
      ;;
  esac
done
((${#presets[@]} > 0)) || presets=(ci dev tsan)

scripts/setup.sh --tests
for preset in "${presets[@]}"; do
  SECONDS=0
  if build "$preset"; then
    echo "== $preset: built in $SECONDS s"
    SECONDS=0
    run_tests "$preset"
    echo "== $preset: tested in $SECONDS s"
  else
    echo "== $preset: does not build" >&2
    failed=$((failed + 1))
  fi
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
