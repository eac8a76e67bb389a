#!/usr/bin/env bash
# Installs the .deb in a new Debian 12 that has nothing else, and uses it there: the first verdict, `doctor`, `serve`, and
# iterations of the quickstart. Prints how long it took from the package to the verdict. Needs root, debootstrap and a mirror,
# so it is run by hand:
#   cpack --config build/release/CPackConfig.cmake -G DEB -D CPACK_COMPONENTS_ALL=Unspecified
#   tests/package/clean_debian.sh kernelrl_*_amd64.deb
set -euo pipefail
package=$(realpath "$1")
root=$(mktemp -d /tmp/kernelrl_debian.XXXXXX)
clean_up() {
  umount --recursive --lazy "$root/proc" "$root/dev" 2> /dev/null || true
  rm -rf --one-file-system "$root"
}
trap clean_up EXIT

debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" > /dev/null
mount -t proc none "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/root/kernelrl.deb"
cat > "$root/root/kernel.cu" << 'KERNEL'
// @launch kern<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
KERNEL

inside() { chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin LC_ALL=C.UTF-8 bash -euo pipefail -c "$1"; }
inside 'apt-get update -qq'
begin=$SECONDS
inside 'apt-get install -qq -y --no-install-recommends /root/kernelrl.deb > /root/apt.log 2>&1 || { cat /root/apt.log; exit 1; }'
inside 'cd /root && kernelrl eval --backend cpu --task vector_add kernel.cu'
echo "from the package to the first verdict: $((SECONDS - begin)) s"

inside 'kernelrl --version && kernelrl doctor cpu && kernelrl doctor libtorch --answers 0'
inside 'cd /root && kernelrl --plan quickstart --set stage.warm-up.epochs=1 --set dataset.templates.count=100 \
  --set stage.reinforce.iterations=1 --set rollout.groups=2'
inside 'cd /root && kernelrl new reward short_source --language c > /dev/null && kernelrl check --schema > /dev/null'
inside 'kernelrl serve --backend cpu --port 8499 > /root/serve.log 2>&1 & server=$!
  for _ in $(seq 100); do (exec 3<> /dev/tcp/127.0.0.1/8499) 2> /dev/null && break; sleep 0.2; done
  exec 3<> /dev/tcp/127.0.0.1/8499; printf "GET /healthz HTTP/1.0\r\n\r\n" >&3; head -1 <&3; kill $server; wait $server || true'
