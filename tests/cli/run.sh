#!/usr/bin/env bash
# Runs the calls of one .test file and compares what they do with what the file says.
#
#   $ command      run by bash in an empty folder; `kernelrl` is the program under test, $DATA is data/,
#                  $TOY the folder of the components that tests use, $CONFIGS the delivered plans; it
#                  waits for a process in the background by `await`, which ends if that does
#   > text         a line that it prints
#   ! text         a line on its error stream
#   = 2            its exit code, where it is not 0
#
# Other lines are comments. Paths that differ from machine to machine become <tmp>, <checkout>, <build>.
# With KERNELRL_UPDATE_EXPECTED=1 the file is rewritten, to be read before it is committed.
#
# usage: run.sh BUILD_FOLDER FILE.test
set -u
build=$(realpath "$1")
file=$(realpath "$2")
export DATA=$(dirname "$file")/data
checkout=$(realpath "$(dirname "$file")/../..")
export TOY=$build/tests/plugins  # components for tests
export CONFIGS=$checkout/configs
export PATH=$build/bin:$PATH LC_ALL=C.UTF-8 TERM=dumb
unset KERNELRL_PLUGIN_PATH

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/work"
cd "$tmp/work" || exit 1

# await COMMAND…: until it succeeds, or the last process in the background has ended.
await() {
  until "$@" || ! kill -0 $! 2> /dev/null; do sleep 0.01; done
}
export -f await

normalised() {
  sed -e "s|$tmp/work|<tmp>|g" -e "s|$build|<build>|g" -e "s|$checkout|<checkout>|g" "$1"
}

while IFS= read -r line || [[ -n $line ]]; do
  case $line in
    '$ '*)
      printf '%s\n' "$line"
      bash -c "${line:2}" > "$tmp/out" 2> "$tmp/err" < /dev/null
      code=$?
      normalised "$tmp/out" | sed 's/^/> /; s/ $//'
      normalised "$tmp/err" | sed 's/^/! /; s/ $//'
      [[ $code == 0 ]] || printf '= %s\n' "$code"
      ;;
    '>'* | '!'* | '='*) ;;
    *) printf '%s\n' "$line" ;;
  esac
done < "$file" > "$tmp/actual"

if [[ -n ${KERNELRL_UPDATE_EXPECTED:-} ]]; then
  cp "$tmp/actual" "$file"
fi
diff -u --label expected --label actual "$file" "$tmp/actual"
