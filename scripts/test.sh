#!/usr/bin/env bash
# Sets up, builds and runs every test, and under sanitizers those that they are most likely to find something in:
#   ci     release: all tests; the benchmarks are built
#   asan   AddressSanitizer and UndefinedBehaviorSanitizer: the tests of the core and of what reads strangers' input
#   tsan   ThreadSanitizer: the core's tests in which threads meet (without libtorch, whose own threads it cannot see into),
#          but not ResumeTest, which stops a run at each of its operations
#   dev    as asan, but all tests except those of compilers, which are others' programs
# Everything is tried even if something before fails. A test that fails is run once more, alone: if it
# passes then, it counts as passed and is called unsteady. The last lines repeat what failed, in which
# of the two runs it may be, and sum up.
#
#   scripts/test.sh               ci, asan and tsan
#   scripts/test.sh --quick       ci
#   scripts/test.sh --all         ci, dev and tsan
#   scripts/test.sh dev tsan      those named
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

passed=0 failed=0 skipped=0 unsteady=0
complaints=$(mktemp)  # what tests that failed have printed
trap 'rm -f "$complaints"' EXIT

build() {
  echo "== $1: building"
  cmake --preset "$1" --log-level=WARNING && cmake --build --preset "$1" -- --quiet
}

# The number after NAME= in the head of a JUnit report.
count() { sed -n "/<testsuite /,/>/s/.*\b$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

# Of ctest's output, the tests that failed with what they printed.
failures_of() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#/ { shown = /\*\*\*/ && !/\*\*\*(Skipped|Not Run \(Disabled\))/ }
       /^ *Start +[0-9]+:/ || /^[0-9]+% tests passed/ { shown = 0 }
       shown' "$1"
}

# run_ctest PRESET REPORT OPTION…: prints what ctest prints, and keeps what failed.
run_ctest() {
  local preset=$1 report=$2 log
  shift 2
  log=$(mktemp)
  rm -f "$report"
  ctest --preset "$preset" --no-tests=error --output-junit "$report" "$@" | tee "$log" || true
  failures_of "$log" | sed "s/^/$preset: /" >> "$complaints"
  rm -f "$log"
}

run_tests() {
  local report=$PWD/build/$1/tests.xml again=$PWD/build/$1/tests_again.xml all wrong left not_run
  echo "== $1: testing"
  run_ctest "$1" "$report" --parallel "$(($(nproc) + 1))"  # some only wait
  if [[ ! -s $report ]]; then
    echo "$1: ctest gave no report" | tee -a "$complaints"
    failed=$((failed + 1))
    return
  fi
  all=$(count tests "$report")
  wrong=$(count failures "$report")
  not_run=$(($(count skipped "$report") + $(count disabled "$report")))
  left=$wrong
  if ((wrong > 0)); then
    echo "== $1: once more, alone, what failed"
    run_ctest "$1" "$again" --rerun-failed
    [[ ! -s $again ]] || left=$(count failures "$again")
  fi
  passed=$((passed + all - left - not_run))
  failed=$((failed + left))
  skipped=$((skipped + not_run))
  unsteady=$((unsteady + wrong - left))
}

presets=()
for word in "$@"; do
  case $word in
    --quick) presets+=(ci) ;;
    --all) presets+=(ci dev tsan) ;;
    ci | asan | tsan | dev) presets+=("$word") ;;
    *)
      echo "scripts/test.sh: unknown word '$word'; known are --quick, --all, ci, asan, tsan, dev" >&2
      exit 2
      ;;
  esac
done
((${#presets[@]} > 0)) || presets=(ci asan tsan)

scripts/setup.sh --tests
for preset in "${presets[@]}"; do
  SECONDS=0
  if build "$preset"; then
    echo "== $preset: built in $SECONDS s"
    SECONDS=0
    run_tests "$preset"
    echo "== $preset: tested in $SECONDS s"
  else
    echo "== $preset: does not build" | tee -a "$complaints" >&2
    failed=$((failed + 1))
  fi
done
if [[ -s $complaints ]]; then
  echo "== what failed"
  cat "$complaints"
fi
((unsteady == 0)) || echo "$unsteady of those that passed are unsteady"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
