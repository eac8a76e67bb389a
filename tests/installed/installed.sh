#!/usr/bin/env bash
# Installs a build to an empty prefix, follows the links of its documents, hides the clone it was built in, and judges a
# kernel and trains for an iteration with what is installed. Needs 2 GB of disk for a moment; skipped where no mount namespace may be made.
#
#   tests/installed/installed.sh BUILD CLONE
set -euo pipefail
build=$1 clone=$2

if unshare --mount true 2> /dev/null; then
  hidden=(unshare --mount)
elif unshare --map-root-user --mount true 2> /dev/null; then
  hidden=(unshare --map-root-user --mount)
else
  echo "skipped: no mount namespace may be made here, so the clone cannot be hidden"
  exit 77
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/kernelrl_installed.XXXXXX")
trap 'rm -rf "$work"' EXIT
case $work in "$clone"/*)
  echo "skipped: $work lies in the clone"
  exit 77
  ;;
esac
cmake --install "$build" --prefix "$work/prefix" > "$work/install.log"

cd "$work/prefix/share/doc/kernelrl"
grep -roE '\]\([^)#:, ]+[)#]' --include=*.md . | while IFS=: read -r page link; do
  link=${link%?}
  [[ $link == '](http'* || -e ${page%/*}/${link#](} ]] || echo "$page links to ${link#](}, which is not installed"
done | tee "$work/broken"
[[ ! -s $work/broken ]]

cat > "$work/kernel.cu" << 'KERNEL'
// @launch kern<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
KERNEL
cat > "$work/use.sh" << 'USE'
set -euo pipefail
mount -t tmpfs none "$1"
cd "$2"
export PATH=$2/prefix/bin:$PATH KERNELRL_CACHE_DIR=$2/cache
kernelrl doctor cpu
kernelrl doctor libtorch --answers 0
kernelrl doctor nvcc --set 'execute=off' --set arch=sm_90
kernelrl eval --backend cpu --task vector_add kernel.cu
kernelrl --plan quickstart --set run.directory=runs --set stage.warm-up.epochs=1 --set dataset.templates.count=100 \
  --set stage.reinforce.iterations=1 --set rollout.groups=2
USE
"${hidden[@]}" bash "$work/use.sh" "$clone" "$work"
