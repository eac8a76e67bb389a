// The matrix descriptor of wgmma (PTX ISA, "Matrix Descriptor Format"): where a matrix lies in
// shared memory, in chunks of 16 bytes.
//
//   bits 0-13   start address      bits 16-29  leading dimension byte offset
//   bits 32-45  stride dimension byte offset, each without its lowest 4 bits
//   bits 49-51  base offset        bits 62-63  swizzling: none, 128, 64 or 32 bytes
//
// A row of the swizzling pattern has W chunks: 1, 8, 4, 2. In a K-major matrix, a chunk holds
// neighbours along K of one row of A, or column of B; 8 of these follow each other in memory, W
// chunks apart, the next 8 a stride further. Chunks along K are neighbours, without swizzling the
// leading offset apart. In an MN-major one, a chunk holds neighbours along M or N for one k; 8 k
// follow each other, W chunks apart. Without swizzling the next chunk along M or N is a stride
// further, the next 8 k the leading offset; with it, W chunks are neighbours, the next W are the
// leading offset further, the next 8 k a stride.
// Swizzling exchanges the chunks of a row of 128 bytes: the lowest bits of a chunk's number are
// combined by exclusive or with those of the row's number in the pattern, which begins where the
// base offset says. Pure.
#pragma once

#include <cstdint>

namespace krl::machine {

class MatrixDescriptor {
 public:
  static constexpr unsigned kChunkBytes = 16;

  explicit MatrixDescriptor(std::uint64_t bits) : bits_(bits) {}

  // True if bits that have no meaning are set.
  bool is_malformed() const { return (bits_ & 0x3ff1'c000'c000'c000) != 0; }
  // Returns the address of a chunk in shared memory, in bytes. K-major: of row or column `mn` and
  // the `k`-th chunk along K; MN-major: of the `mn`-th chunk along M or N at `k`. May be outside of
  // the block's shared memory.
  std::uint32_t k_major(std::uint32_t mn, std::uint32_t k) const {
    const std::uint32_t along = width() == 1 ? k * leading() : k * kChunkBytes;
    return swizzled(start() + mn % 8 * width() * kChunkBytes + mn / 8 * stride() + along);
  }
  std::uint32_t mn_major(std::uint32_t mn, std::uint32_t k) const {
    const std::uint32_t w = width(), row = k % 8 * w * kChunkBytes;
    if (w == 1) return start() + mn * stride() + row + k / 8 * leading();
    return swizzled(start() + mn % w * kChunkBytes + mn / w * leading() + row + k / 8 * stride());
  }

 private:
  std::uint32_t field(unsigned at) const {
    return static_cast<std::uint32_t>(bits_ >> at & 0x3fff) * kChunkBytes;
  }
  std::uint32_t start() const { return field(0); }
  std::uint32_t leading() const { return field(16); }
  std::uint32_t stride() const { return field(32); }
  // Chunks in a row of the pattern.
  std::uint32_t width() const {
    const auto mode = static_cast<unsigned>(bits_ >> 62);
    return mode == 0 ? 1 : 16u >> mode;
  }
  std::uint32_t swizzled(std::uint32_t address) const {
    const auto base = static_cast<std::uint32_t>(bits_ >> 49 & 7);
    return address ^ (address / 128 - base) % width() * kChunkBytes;
  }

  std::uint64_t bits_;
};

}  // namespace krl::machine
