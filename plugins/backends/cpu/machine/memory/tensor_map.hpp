// Arrays that copies of tensors name by a parameter of the kernel (CUtensorMap), and the boxes that they
// move. Sizes and places are numbers of elements, the innermost first. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine_protocol.hpp"

namespace krl::machine {

class TensorMap {
 public:
  static constexpr std::size_t kMostRank = 5;
  using Place = std::array<std::int32_t, kMostRank>;

  // `parameter`: the offset of the parameter; `address`: that of the array in global memory.
  TensorMap(const cpu::TensorMapArgument& argument, std::uint32_t parameter, std::uint64_t address)
      : parameter_(parameter),
        address_(address),
        element_bytes_(argument.element_bytes),
        swizzle_(argument.swizzle),
        sizes_(argument.sizes.rbegin(), argument.sizes.rend()),
        box_(argument.box.rbegin(), argument.box.rend()) {}

  std::uint32_t parameter() const { return parameter_; }
  std::size_t rank() const { return sizes_.size(); }
  std::uint32_t element_bytes() const { return element_bytes_; }
  std::uint32_t box_bytes() const {
    std::uint32_t bytes = element_bytes_;
    for (const std::uint32_t size : box_) bytes *= size;
    return bytes;
  }

  // A part of a row of a box that lies in the array.
  struct Run {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t place = 0;  // offset of its first byte in the box, whose rows are side by side
  };
  std::vector<Run> runs(const Place& corner) const;

  // The offset in shared memory of the 16 bytes at `place` of a box that begins at `offset`.
  std::uint32_t swizzled(std::uint32_t offset, std::uint32_t place) const {
    const std::uint32_t plain = offset + place;
    return plain ^ ((plain >> 3) & (swizzle_ - (swizzle_ != 0 ? 16 : 0)));
  }

 private:
  std::uint32_t parameter_;
  std::uint64_t address_;
  std::uint32_t element_bytes_, swizzle_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint32_t> box_;
};

}  // namespace krl::machine
