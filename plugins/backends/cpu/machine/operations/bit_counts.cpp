// Bits that are counted, found or put in reverse order.
#include <bit>

#include "plugins/backends/cpu/machine/operations/all_forms.hpp"
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

constexpr std::uint32_t kNone = ~0u;

template <class T>
std::uint32_t ones(T a) {
  return static_cast<std::uint32_t>(std::popcount(a));
}
template <class T>
std::uint32_t leading_zeros(T a) {
  return static_cast<std::uint32_t>(std::countl_zero(a));
}
template <class T>
T reversed(T a) {
  T result = a;
  T ones_in_turn = static_cast<T>(~T{0});
  for (unsigned distance = sizeof(T) * 4; distance != 0; distance /= 2) {
    ones_in_turn ^= ones_in_turn << distance;
    result = (result >> distance & ones_in_turn) | (result << distance & ~ones_in_turn);
  }
  return result;
}

// The distance of the highest bit that is not a copy of the sign from the top.
template <class T>
std::uint32_t distance_to_highest(T a) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto bits = static_cast<Unsigned>(a < 0 ? ~a : a);
  return bits == 0 ? kNone : leading_zeros(bits);
}
template <class T>
std::uint32_t highest(T a) {
  const std::uint32_t distance = distance_to_highest(a);
  return distance == kNone ? kNone : static_cast<std::uint32_t>(sizeof(T) * 8 - 1 - distance);
}

// Returns the place of the one-bit that is offset - 1 ones above `base` (below, if offset is
// negative), where base itself may be the first; for offset 0: base, if that bit is one. GPUs
// return 0 for the least offset, whose absolute value is not an int32_t.
std::uint32_t nth_one(std::uint32_t bits, std::uint32_t base, std::int32_t offset) {
  if (offset == INT32_MIN) return 0;
  if (offset == 0) return base < 32 && (bits >> base & 1) != 0 ? base : kNone;
  std::int64_t left = offset < 0 ? -std::int64_t{offset} : offset;
  for (std::uint32_t place = base; place < 32; place += offset < 0 ? kNone : 1) {
    if ((bits >> place & 1) != 0 && --left == 0) return place;
  }
  return kNone;
}

template <class T>
void add_forms(Forms& forms) {
  const std::string bits = std::to_string(sizeof(T) * 8);
  constexpr InstructionClass kind = kIntegerKind<T>;
  using Signed = std::make_signed_t<T>;
  forms.add<ones<T>>(kind, {"popc.b" + bits});
  forms.add<leading_zeros<T>>(kind, {"clz.b" + bits});
  forms.add<reversed<T>>(kind, {"brev.b" + bits});
  forms.add<highest<T>>(kind, {"bfind.u" + bits});
  forms.add<highest<Signed>>(kind, {"bfind.s" + bits});
  forms.add<distance_to_highest<T>>(kind, {"bfind.shiftamt.u" + bits});
  forms.add<distance_to_highest<Signed>>(kind, {"bfind.shiftamt.s" + bits});
}

}  // namespace

void add_bit_count_forms(Forms& forms) {
  add_forms<std::uint32_t>(forms);
  add_forms<std::uint64_t>(forms);
  forms.add<nth_one>(InstructionClass::kInteger, {"fns.b32"});
}

}  // namespace krl::machine
