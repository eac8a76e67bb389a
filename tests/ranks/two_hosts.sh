#!/bin/bash
# Two ranks in two network namespaces, joined by a virtual cable, as on two hosts: a rank is killed,
# a rank is stopped, the cable is cut. The others end within the time-out and name it, and the run
# goes on from its checkpoint.
. "$(dirname "$0")/plan.sh" "$@"
first=krl0-$$ second=krl1-$$

clean_up() {
  ip netns delete "$first" 2>/dev/null || true
  ip netns delete "$second" 2>/dev/null || true
  rm -rf "$work"
}

if ! command -v ip >/dev/null || ! ip netns add "$first" 2>netns.log; then
  echo "skipped: network namespaces need root and iproute2 ($(cat netns.log 2>/dev/null))"
  rm -rf "$work"
  exit 77
fi
trap clean_up EXIT
ip netns add "$second"
ip link add "$first" type veth peer name "$second"
address=1
for space in "$first" "$second"; do
  ip link set "$space" netns "$space"
  ip -n "$space" address add "10.77.0.$address/24" dev "$space"
  ip -n "$space" link set "$space" up
  ip -n "$space" link set lo up
  address=2
done

# start NAME WORDS…: both ranks; $rank0 and $rank1 are their processes.
start() {
  local name=$1 rank space
  shift
  for rank in 0 1; do
    space=$first
    [ $rank = 0 ] || space=$second
    RANK=$rank WORLD_SIZE=2 LOCAL_RANK=0 MASTER_ADDR=10.77.0.1 MASTER_PORT=29400 \
      ip netns exec "$space" "$kernelrl" "${plan[@]}" "$@" >"$name$rank.log" 2>&1 &
    declare -g "rank$rank=$!"
  done
}

# ends NAME RANK OTHER: that the rank's process ends and names the other.
ends() {
  local pid=rank$2 other=rank$3
  await "${!pid}"
  [ $code = 1 ] || fail "rank $2 does not end by 1 when rank $3 is $1"
  says "$1$2.log" "process ${!other}) is lost" || fail "rank $2 does not name rank $3 ($1)"
}

endless="stage.reinforce.iterations=100000"
start killed --set $endless
wait_for_iterations 1 $rank0
kill -KILL $rank1
ends killed 0 1

start stopped --set $endless --resume
wait_for_iterations $(($(iterations) + 1)) $rank0
kill -STOP $rank1
ends stopped 0 1
kill -KILL $rank1

start cut --set $endless --resume
wait_for_iterations $(($(iterations) + 1)) $rank0
ip -n "$second" link set "$second" down
ends cut 0 1
ends cut 1 0
ip -n "$second" link set "$second" up

done_before=$(iterations)
start resumed --set stage.reinforce.iterations=$((done_before + 2)) --resume
await $rank0
[ $code = 0 ] || fail "two ranks do not go on"
await $rank1
[ $code = 0 ] || fail "rank 1 does not end with rank 0"
[ "$(iterations)" = $((done_before + 2)) ] || fail "they did not do what was left"
