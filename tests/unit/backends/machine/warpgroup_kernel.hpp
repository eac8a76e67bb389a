// For tests: kernels with one product of a warpgroup (wgmma), and matrices in shared memory as the
// PTX ISA lays them out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace krl::machine {

// Lists for inline assembly: {%first, …}; "+f"(array[0]), …
inline std::string operands(int first, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i == 0 ? "%" : ", %") + std::to_string(first + i);
  return list + "}";
}
inline std::string constraints(const std::string& kind, const std::string& array, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i == 0 ? "\"" : ", \"") + kind + "\"(" + array + "[" + std::to_string(i) + "])";
  return list;
}

// "wgmma.mma_async.sync.aligned." + form, on `count` registers r, as a statement. Its descriptors
// are the variables da and db, or A is in f[0] to f[3]; `add` says whether D is added to.
inline std::string product(const std::string& form, const std::string& kind, int count,
                           bool a_in_registers, const std::string& immediates) {
  const int factors = a_in_registers ? 4 : 1;
  const auto at = [](int index) { return "%" + std::to_string(index); };
  return "asm volatile(\"{ .reg .pred p; setp.ne.b32 p, " + at(count + factors + 1) +
         ", 0; wgmma.mma_async.sync.aligned." + form + " " + operands(0, count) + ", " +
         (a_in_registers ? operands(count, 4) : at(count)) + ", " + at(count + factors) + ", p" +
         immediates + "; }\" : " + constraints("+" + kind, "r", count) + " : " +
         (a_in_registers ? constraints("r", "f", 4) : "\"l\"(da)") +
         ", \"l\"(db), \"r\"(add) : \"memory\");\n";
}

inline constexpr const char* kFence =
    "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n";
inline constexpr const char* kCommit =
    "asm volatile(\"wgmma.commit_group.sync.aligned;\" ::: \"memory\");\n";
inline constexpr const char* kWait =
    "asm volatile(\"wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n";
inline constexpr const char* kProxyFence =
    "asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n";

// A canonical layout: the place of element (mn, k), by the strides that the PTX ISA gives.
struct Layout {
  unsigned mode = 0;  // of swizzling: 0 none, 1: 128 bytes, 2: 64, 3: 32
  bool k_major = true;
  unsigned bits = 16;                // bits of an element
  unsigned leading = 0, stride = 0;  // byte offsets

  // Bytes from the start of the pattern, which is at a multiple of its size.
  unsigned place(unsigned mn, unsigned k) const {
    const unsigned T = 128 / bits, bytes = bits / 8;  // as the PTX ISA calls it
    constexpr unsigned kRepeat[] = {1, 8, 4, 2};
    const unsigned W = kRepeat[mode];
    unsigned at = 0;
    if (k_major && mode == 0) {  // ((8,m),(T,2k)) : ((1T,SBO),(1,LBO))
      at = mn % 8 * T * bytes + mn / 8 * stride + k % T * bytes + k / T * leading;
    } else if (k_major) {  // ((8,m),(T,2k)) : ((WT,SBO),(1,T))
      at = mn % 8 * W * T * bytes + mn / 8 * stride + k * bytes;
    } else if (mode == 0) {  // ((T,1,m),(8,k)) : ((1,T,SBO),(1T,LBO))
      at = mn % T * bytes + mn / T * stride + k % 8 * T * bytes + k / 8 * leading;
    } else {  // ((T,W,m),(8,k)) : ((1,T,LBO),(WT,SBO))
      at = mn % T * bytes + mn / T % W * T * bytes + mn / (T * W) * leading +
           k % 8 * W * T * bytes + k / 8 * stride;
    }
    // Swizzle<log2 W, 4, 3>
    unsigned result = at;
    for (unsigned bit = 1; bit < W; bit *= 2) {
      if ((at / 128 & bit) != 0) result ^= bit * 16;
    }
    return result;
  }
  // `start`: address of the first element, before swizzling; `base`: see the PTX ISA.
  std::uint64_t descriptor(unsigned start, unsigned base = 0) const {
    return std::uint64_t{start >> 4} | std::uint64_t{leading >> 4} << 16 |
           std::uint64_t{stride >> 4} << 32 | std::uint64_t{base} << 49 | std::uint64_t{mode} << 62;
  }
};

}  // namespace krl::machine
