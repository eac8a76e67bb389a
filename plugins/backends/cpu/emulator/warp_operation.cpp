#include "plugins/backends/cpu/emulator/warp_operation.hpp"

#include <algorithm>
#include <bit>

#include "plugins/backends/cpu/shim/krl/hooks.h"

namespace krl::emulator {
namespace {

using Results = std::array<std::uint64_t, 32>;

template <class Visit>
void for_each_lane(std::uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::size_t>(std::countr_zero(lanes)));
}

Results shuffled(const WarpOperands& in) {
  Results out{};
  for_each_lane(in.members, [&](std::size_t lane) {
    const std::uint32_t source = in.sources[lane];
    out[lane] = (in.members >> source & 1) != 0 ? in.values[source] : kUndefinedLane;
  });
  return out;
}

Results matched(const WarpOperands& in) {
  Results out{};
  for_each_lane(in.members, [&](std::size_t lane) {
    for_each_lane(in.members, [&](std::size_t other) {
      if (in.values[other] == in.values[lane]) out[lane] |= std::uint64_t{1} << other;
    });
  });
  return out;
}

template <class T, class Combine>
std::uint64_t reduced(const WarpOperands& in, Combine combine) {
  auto total = static_cast<T>(in.values[static_cast<std::size_t>(std::countr_zero(in.members))]);
  for_each_lane(in.members & (in.members - 1), [&](std::size_t lane) {
    total = static_cast<T>(combine(total, static_cast<T>(in.values[lane])));
  });
  return static_cast<std::uint32_t>(total);
}

std::uint64_t common_result(unsigned operation, const WarpOperands& in) {
  using I = std::int32_t;
  using U = std::uint32_t;
  switch (operation) {
    case KRL_BALLOT: {
      std::uint64_t mask = 0;
      for_each_lane(in.members, [&](std::size_t lane) {
        if (in.values[lane] != 0) mask |= std::uint64_t{1} << lane;
      });
      return mask;
    }
    case KRL_MATCH_ALL: {
      bool equal = true;
      const auto first = in.values[static_cast<std::size_t>(std::countr_zero(in.members))];
      for_each_lane(in.members, [&](std::size_t lane) { equal &= in.values[lane] == first; });
      return equal ? in.members : 0;
    }
    case KRL_REDUCE_ADD:
      return reduced<U>(in, [](U a, U b) { return a + b; });
    case KRL_REDUCE_MIN:
      return reduced<I>(in, [](I a, I b) { return std::min(a, b); });
    case KRL_REDUCE_MAX:
      return reduced<I>(in, [](I a, I b) { return std::max(a, b); });
    case KRL_REDUCE_UMIN:
      return reduced<U>(in, [](U a, U b) { return std::min(a, b); });
    case KRL_REDUCE_UMAX:
      return reduced<U>(in, [](U a, U b) { return std::max(a, b); });
    case KRL_REDUCE_AND:
      return reduced<U>(in, [](U a, U b) { return a & b; });
    case KRL_REDUCE_OR:
      return reduced<U>(in, [](U a, U b) { return a | b; });
    case KRL_REDUCE_XOR:
      return reduced<U>(in, [](U a, U b) { return a ^ b; });
    default:  // a barrier of the warp
      return 0;
  }
}

}  // namespace

std::array<std::uint64_t, 32> warp_operation(unsigned operation, const WarpOperands& operands) {
  if (operands.members == 0) return {};
  if (operation == KRL_SHUFFLE) return shuffled(operands);
  if (operation == KRL_MATCH_ANY) return matched(operands);
  Results out;
  out.fill(common_result(operation, operands));
  return out;
}

}  // namespace krl::emulator
