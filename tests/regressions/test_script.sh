#!/usr/bin/env bash
# scripts/test.sh fails for a test that fails again, with --nightly also for one that passes then, for a source that is not
# formatted, and for a header in which scripts/tidy.sh finds something. Stand-ins for cmake and ctest: a build does nothing; the
# first run of the tests has $FIRST failures, the second $AGAIN.
#
# usage: test_script.sh CHECKOUT
set -euo pipefail
checkout=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/scripts" "$tmp/build"
cp "$checkout"/scripts/{test.sh,format.sh,comments.py} "$tmp/scripts"
cp "$checkout/.clang-format" "$tmp"
printf '#!/bin/sh\n' | tee "$tmp"/scripts/{setup,tidy}.sh > "$tmp/bin/cmake"
cat > "$tmp/bin/ctest" << 'END'
#!/usr/bin/env bash
failures=$FIRST
[[ " $* " != *" --rerun-failed "* ]] || failures=$AGAIN
while [[ $1 != --output-junit ]]; do shift; done
echo "<testsuite tests=\"5\" failures=\"$failures\" disabled=\"0\" skipped=\"1\">" > "$2"
END
chmod +x "$tmp"/bin/* "$tmp"/scripts/*
export PATH=$tmp/bin:$PATH
git -C "$tmp" init --quiet

# expect RESULT LINE: how scripts/test.sh must end, with $OPTION or --quick.
expect() {
  local result=0
  "$tmp/scripts/test.sh" "${OPTION---quick}" > "$tmp/log" 2>&1 || result=$?
  [[ $result == "$1" && $(tail -n 1 "$tmp/log") == "$2" ]] && return
  echo "expected $1 and '$2', got $result and:" >&2
  cat "$tmp/log" >&2
  exit 1
}

FIRST=0 AGAIN=0 expect 0 "4 passed, 0 failed, 0 unsteady, 1 skipped"
FIRST=2 AGAIN=1 expect 1 "2 passed, 1 failed, 1 unsteady, 1 skipped"
FIRST=1 AGAIN=0 expect 0 "3 passed, 0 failed, 1 unsteady, 1 skipped"
OPTION=--nightly FIRST=1 AGAIN=0 expect 1 "12 passed, 0 failed, 4 unsteady, 4 skipped"
printf '#!/bin/sh\necho "name.hpp:1:1: error"\nexit 1\n' > "$tmp/scripts/tidy.sh"
FIRST=0 AGAIN=0 expect 1 "4 passed, 1 failed, 0 unsteady, 1 skipped"
grep -q '^name.hpp:1:1: error' "$tmp/log"
cp "$checkout/scripts/tidy.sh" "$tmp/scripts"
mkdir -p "$tmp/sdk/include/kernelrl/testing" "$tmp/core/base" "$tmp/service/runs"
cp "$checkout/.clang-tidy" "$tmp"
printf '#include "core/base/a.hpp"\n' | tee "$tmp/core/base/a.cpp" > "$tmp/service/runs/a.cpp"
for header in "$tmp"/sdk/include/kernelrl/{,testing/}a.hpp "$tmp"/{core/base,service/runs}/a.hpp; do
  printf '#pragma once\n' > "$header"
done
FIRST=0 AGAIN=0 expect 0 "4 passed, 0 failed, 0 unsteady, 1 skipped"
printf 'struct A {\n  A(int);\n};\n' >> "$tmp/core/base/a.hpp"
FIRST=0 AGAIN=0 expect 1 "4 passed, 1 failed, 0 unsteady, 1 skipped"
grep -q 'a.hpp:3:3: error: single-argument' "$tmp/log"
printf '#pragma once\n' > "$tmp/core/base/a.hpp"
printf 'std::string text;\n' >> "$tmp/core/base/a.cpp"
FIRST=0 AGAIN=0 expect 0 "4 passed, 0 failed, 0 unsteady, 1 skipped"
OPTION=--nightly FIRST=0 AGAIN=0 expect 1 "16 passed, 1 failed, 0 unsteady, 4 skipped"
grep -q 'a.cpp:2:1: error:' "$tmp/log"
rm -r "$tmp/sdk" "$tmp/core" "$tmp/service"
printf '#!/bin/sh\n' > "$tmp/scripts/tidy.sh"
if command -v clang-format-14 > /dev/null; then
  printf 'int main()\n{\n}\n' > "$tmp/main.cpp"
  FIRST=0 AGAIN=0 expect 1 "4 passed, 1 failed, 0 unsteady, 1 skipped"
  grep -q '^formatting: .*main.cpp:1:11:\|^main.cpp:1:11: error' "$tmp/log"
  "$tmp/scripts/format.sh"
  FIRST=0 AGAIN=0 expect 0 "4 passed, 0 failed, 0 unsteady, 1 skipped"
fi
