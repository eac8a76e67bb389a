// Sets the processor's rounding direction for the duration of an operation.
#pragma once

#include <xmmintrin.h>

#include <cstdint>

#include "plugins/backends/cpu/machine/operations/lanewise.hpp"

namespace krl::machine {

// The values are those of MXCSR.
enum class Rounding : std::uint8_t { kNearest, kDown, kUp, kToZero };

// Sets the calling thread's rounding mode until the end of the scope. The rounded computation must
// be a call that the compiler cannot look into: it ignores rounding modes and would move arithmetic
// out.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(_mm_getcsr()) {
    _mm_setcsr((before_ & ~0x6000u) | static_cast<unsigned>(rounding) << 13);
  }
  ~RoundingScope() { _mm_setcsr(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  unsigned before_;
};

// lanewise<function>, with the rounding mode in extra[0].
template <auto function>
void lanewise_rounded(const Instruction& instruction, Warp& warp, std::byte* frame, Mask mask) {
  const RoundingScope scope(static_cast<Rounding>(instruction.extra[0]));
  Operation run = lanewise<function>;
  asm volatile("" : "+r"(run));
  run(instruction, warp, frame, mask);
}

}  // namespace krl::machine
