// The factors of an asynchronous product of a warpgroup (wgmma) that are in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/memory/products_under_way.hpp"
#include "plugins/backends/cpu/machine/operations/elements.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

inline constexpr unsigned kBytesAlongK = 32;  // is the same for every type

// Rows of A, or columns of B.
struct SharedMatrix {
  std::uint64_t descriptor = 0;
  Element element = Element::kF16;
  bool k_major = true;            // otherwise the element has 16 bits
  unsigned first = 0, count = 0;  // multiples of 8
};

// Where elements go: that of row or column i and depth k to to[k * step_k + i * step_i].
template <class T>
struct Elements {
  T* to;
  unsigned step_k, step_i;
};

// Reads a matrix with the checks of shared memory, and adds to `chunks` what it has read of it. T
// is float, or std::int32_t for integers. Unwritten memory is garbage. Throws Fault.
template <class T>
void read_matrix(const SharedMatrix& matrix, const Instruction& at, Warp& warp,
                 const Elements<T>& elements, std::vector<ProductsUnderWay::Chunk>* chunks);

// Identifies the contents of a chunk.
std::uint32_t digest_of_chunk(const std::byte* chunk);

}  // namespace krl::machine
