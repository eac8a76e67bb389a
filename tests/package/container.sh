#!/usr/bin/env bash
# Follows packaging/Containerfile without a container engine: its RUN lines in a new Debian 12, then its entry point as its user, with
# a verdict, an iteration of the quickstart and `serve`. Needs root, debootstrap and a mirror, so it is run by hand, with the
# package that clean_debian.sh takes:
#   tests/package/container.sh kernelrl_*_amd64.deb
set -euo pipefail
package=$(realpath "$1")
recipe=$(realpath "$(dirname "$0")/../../packaging/Containerfile")
root=$(mktemp -d /tmp/kernelrl_container.XXXXXX)
server=
clean_up() {
  [[ -z $server ]] || kill "$server" 2> /dev/null || true
  umount --recursive --lazy "$root/proc" "$root/dev" 2> /dev/null || true
  rm -rf --one-file-system "$root"
}
trap clean_up EXIT
fail() {
  echo "tests/package/container.sh: $*" >&2
  exit 1
}

debootstrap --variant=minbase bookworm "$root" "${MIRROR:-http://deb.debian.org/debian}" > /dev/null
chmod 755 "$root" # mktemp keeps other users out
mount -t proc none "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/packages"
cp "$package" "$root/packages/"
# As the slim images have it.
printf 'path-exclude /usr/share/%s/*\n' doc man locale > "$root/etc/dpkg/dpkg.cfg.d/docker"

environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8)
user=root folder=/ entry='' volume='' runs=0
inside() { chroot --userspec="$user" "$root" /usr/bin/env -i --chdir="$folder" "${environment[@]}" "$@"; }

while read -r word rest; do
  case $word in
    '' | ARG | FROM | EXPOSE | CMD) ;;
    RUN)
      rest=${rest#--mount=type=bind,target=/packages }
      inside sh -c "$rest" > "$root/run.log" 2>&1 || fail "RUN $rest: $(tail -20 "$root/run.log")"
      runs=$((runs + 1))
      ;;
    ENV) read -ra words <<< "$rest" && environment+=("${words[@]}") ;;
    USER) user=$rest ;;
    WORKDIR) folder=$rest ;;
    VOLUME) volume=$rest ;;
    ENTRYPOINT) entry=$(sed -E 's/^\["([^"]+)"\]$/\1/' <<< "$rest") ;;
    *) fail "the recipe has an instruction that this test does not know: $word" ;;
  esac
done < <(sed -e '/^#/d' -e ':again' -e '/\\$/{N;s/\\\n */ /;b again' -e '}' "$recipe")
[[ $user != root && $runs -gt 0 && $volume == "$folder" && $entry == kernelrl ]] ||
  fail "user $user, $runs RUN lines, volume '$volume', folder '$folder', entry point '$entry'"
rm -rf "$root/packages"

[[ $(inside id -u) != 0 ]] || fail "the user is root"
! inside touch /usr/bin/new 2> /dev/null || fail "the user may write outside of the volume"
cat > "$root/$volume/kernel.cu" << 'KERNEL'
// @launch kern<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
KERNEL
inside "$entry" --version
inside "$entry" doctor cpu
inside "$entry" eval --backend cpu --task vector_add kernel.cu
inside "$entry" --plan quickstart --set stage.warm-up.epochs=1 --set dataset.templates.count=100 \
  --set stage.reinforce.iterations=1 --set rollout.groups=2
[[ -n $(ls "$root/$volume/runs") ]] || fail "the run is not in the volume"

echo "tests 0123456789abcdef" > "$root/$volume/tokens"
chroot --userspec="$user" "$root" /usr/bin/env -i --chdir="$folder" "${environment[@]}" \
  "$entry" serve --address 0.0.0.0 --port 0 --token-file tokens > "$root/serve.log" 2>&1 &
server=$!
until port=$(grep -oE '0\.0\.0\.0:[0-9]+' "$root/serve.log"); do
  kill -0 "$server" 2> /dev/null || fail "serve ended: $(tail -5 "$root/serve.log")"
  sleep 0.2
done
exec 3<> "/dev/tcp/127.0.0.1/${port#*:}"
printf 'GET /healthz HTTP/1.0\r\n\r\n' >&3
head -1 <&3
exec 3>&-
kill "$server"
wait "$server" || fail "serve ended with $?: $(tail -5 "$root/serve.log")"
server=
