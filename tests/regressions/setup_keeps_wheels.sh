#!/usr/bin/env bash
# scripts/setup.sh with one option took away what a call with another had installed. Here pip only makes a file for each
# wheel, and all Debian packages are there.
#
# usage: setup_keeps_wheels.sh CHECKOUT
set -euo pipefail
checkout=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/scripts"
sed "s|/usr/bin/python3|$tmp/bin/pip_of_test|" "$checkout/scripts/setup.sh" > "$tmp/scripts/setup.sh"

cat > "$tmp/bin/dpkg-query" << 'END'
#!/usr/bin/env bash
printf ' %s=installed ' "$@"
END
cat > "$tmp/bin/pip_of_test" << 'END'
#!/usr/bin/env bash
echo call >> "${BASH_SOURCE[0]%/*}/calls"
while [[ $1 != --target ]]; do shift; done
mkdir -p "$2"
cd "$2"
touch "${@:3}"
END
for script in get_smollm2 get_minilm; do printf '#!/bin/sh\n' > "$tmp/scripts/$script.sh"; done
chmod +x "$tmp"/bin/* "$tmp"/scripts/*
export PATH=$tmp/bin:$PATH

fail() {
  echo "$*" >&2
  ls "$tmp/.deps/python" >&2
  exit 1
}
has() { compgen -G "$tmp/.deps/python/$1==*" > /dev/null; }
setup() { "$tmp/scripts/setup.sh" "$@" > /dev/null; }

setup --gpu
has nvidia-cublas || fail "--gpu brings no cublas"
setup --tests
has tokenizers || fail "--tests brings no tokenizers"
has nvidia-cublas || fail "--tests took away what --gpu had brought"
setup
setup --gpu
setup --tests
has tokenizers || fail "--gpu took away what --tests had brought"
compgen -G "$tmp/.deps/llama_server/xllamacpp==*" > /dev/null || fail "--tests brings no server of llama.cpp"
[[ $(wc -l < "$tmp/bin/calls") == 4 ]] || fail "something was installed a second time" # --tests: wheels, a server's, and mypy

# Another version takes the place of the old one, whatever option brought it.
sed -i 's/tokenizers==[0-9.]*/tokenizers==99.0/' "$tmp/scripts/setup.sh"
setup
[[ $(cd "$tmp/.deps/python" && echo tokenizers*) == tokenizers==99.0 ]] || fail "the new version is not there alone"
has nvidia-cublas || fail "a new version of one took away another"
