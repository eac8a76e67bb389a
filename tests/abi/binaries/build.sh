#!/usr/bin/env bash
# Builds the plugins of version 1.0 that every later build must load: by g++ with both ABIs of std::string, by clang with libc++, in C,
# and in Rust. They were built once and stay as they are; a new minor version gets a folder of its own.
#
#   apt-get install clang libc++-dev libc++abi-dev      # and cargo
#   tests/abi/binaries/build.sh FOLDER
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
out=$(mkdir -p "$1" && cd "$1" && pwd)
flags=(-O2 -fPIC -shared -s -fvisibility=hidden "-I$root/sdk/include" "-I$root" "-Wl,--version-script=$root/sdk/cmake/plugin.map"
  -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,--gc-sections -ffunction-sections -fdata-sections "-ffile-prefix-map=$root=.")
cxx=("$root/tests/abi/plugins/four_kinds.cpp" -std=c++17)
g++ "${flags[@]}" "${cxx[@]}" -o "$out/gxx.krl.so"
g++ "${flags[@]}" "${cxx[@]}" -D_GLIBCXX_USE_CXX11_ABI=0 -o "$out/gxx_old_strings.krl.so"
clang++ "${flags[@]}" "${cxx[@]}" -stdlib=libc++ -nostdlib++ -Wl,-Bstatic -lc++ -lc++abi -Wl,-Bdynamic -lpthread -o "$out/clang_libcxx.krl.so"
gcc "${flags[@]}" "$root/tests/abi/plugins/plain_c.c" -o "$out/c.krl.so"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$root/sdk/templates/common/rust/Cargo.toml" "$root/sdk/templates/reward/rust/src" "$work"
sed -i 's/new_vendor/frozen/g; s/new_component/reward/g; s/new_kind/reward/g; s/new_name/reward/g' "$work"/Cargo.toml "$work"/src/*.rs
(cd "$work" && RUSTFLAGS="-C strip=symbols --remap-path-prefix=$work=." cargo build --release --quiet)
cp "$work/target/release/libreward.so" "$out/rust.krl.so"
