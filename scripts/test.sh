#!/usr/bin/env bash
# Sets up, checks the formatting and the public headers (scripts/tidy.sh; with --nightly and --all the includes, too), builds and
# runs the tests, and runs under sanitizers those tests in which they are most likely to find something:
#   ci       release: all tests but those that take long: the label `nightly`, and the names in the preset
#   nightly  release: all tests; the benchmarks are built
#   asan     AddressSanitizer and UndefinedBehaviorSanitizer, by clang: the tests of the core and of code that reads untrusted
#            input, except ResumeTest, which stops a run at each of its operations, and RetrieverLeaks, which takes a minute
#   input    asan for code that reads untrusted input alone
#   fuzz     the same by g++, which the machine of the cpu backend needs: the mutants of PTX that it gets
#   tsan     ThreadSanitizer, by clang: the core's multithreaded tests (without libtorch, whose threads it cannot instrument),
#            except ResumeTest
#   dev      like asan, but all tests except those of compilers, which are other people's programs
# A failure does not stop the rest. A test that fails is run three times more, alone; if it passes them all, it is reported
# as unsteady, which is a failure too with --nightly and --all. The others run on machines that somebody else may load
# meanwhile, where any of thousands of tests can be late. The last lines repeat the output of everything that failed, and
# sum up.
#
#   scripts/test.sh               ci and input
#   scripts/test.sh --quick       ci
#   scripts/test.sh --nightly     nightly, asan, fuzz and tsan
#   scripts/test.sh --all         nightly, dev and tsan
#   scripts/test.sh dev tsan      those named
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

passed=0 failed=0 skipped=0 unsteady=0
complaints=$(mktemp)  # the output of everything that failed
trap 'rm -f "$complaints"' EXIT

check_formatting() {
  if ! command -v clang-format-14 > /dev/null || ! git ls-files > /dev/null 2>&1; then
    echo "== formatting: not checked, which needs clang-format-14 and a git checkout"
  elif scripts/format.sh --check > /dev/null 2>&1; then
    echo "== formatting: checked"
  else
    {
      echo "formatting: scripts/format.sh would change these lines"
      scripts/format.sh --check 2>&1 | grep 'error:' || true
    } | tee -a "$complaints"
    failed=$((failed + 1))
  fi
}

check_code() {
  local found
  if found=$(scripts/tidy.sh "$@" 2>&1); then
    echo "== public headers: checked"
  else
    printf 'scripts/tidy.sh finds\n%s\n' "$found" | tee -a "$complaints"
    failed=$((failed + 1))
  fi
}

build() {
  echo "== $1: building"
  cmake --preset "$1" --log-level=WARNING && cmake --build --preset "$1" -- --quiet
}

# The number after NAME= in the head of a JUnit report.
count() { sed -n "/<testsuite /,/>/s/.*\b$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1; }

# The failed tests in the output of ctest, with what they printed.
failures_of() {
  awk '/^ *[0-9]+\/[0-9]+ Test +#/ { shown = /\*\*\*/ && !/\*\*\*(Skipped|Not Run \(Disabled\))/ }
       /^ *Start +[0-9]+:/ || /^[0-9]+% tests passed/ { shown = 0 }
       shown' "$1"
}

# run_ctest PRESET REPORT OPTION…: prints the output of ctest, and keeps that of failed tests.
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
  local report=$PWD/build/$1.xml again=$PWD/build/$1_again.xml all wrong left not_run
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
    echo "== $1: running three times more, alone, what failed"
    run_ctest "$1" "$again" --rerun-failed --repeat until-fail:3
    [[ ! -s $again ]] || left=$(count failures "$again")
  fi
  passed=$((passed + all - wrong - not_run))
  failed=$((failed + left))
  skipped=$((skipped + not_run))
  unsteady=$((unsteady + wrong - left))
}

presets=() tidy=() strict=0
for word in "$@"; do
  case $word in
    --quick) presets+=(ci) ;;
    --nightly) presets+=(nightly asan fuzz tsan) tidy=(--includes) strict=1 ;;
    --all) presets+=(nightly dev tsan) tidy=(--includes) strict=1 ;;
    ci | nightly | asan | input | fuzz | tsan | dev) presets+=("$word") ;;
    *)
      echo "scripts/test.sh: unknown word '$word'; known are --quick, --nightly, --all, ci, nightly, asan, input, fuzz, tsan, dev" >&2
      exit 2
      ;;
  esac
done
((${#presets[@]} > 0)) || presets=(ci input)

scripts/setup.sh --tests
check_formatting
check_code "${tidy[@]}"
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
echo "$passed passed, $failed failed, $unsteady unsteady, $skipped skipped"
((failed + strict * unsteady == 0))
