#include "plugins/backends/cpu/machine/operations/warpgroup_matrix.hpp"

#include <cstring>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/block_memory.hpp"
#include "plugins/backends/cpu/machine/operations/matrix_descriptor.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

constexpr unsigned kChunkBytes = MatrixDescriptor::kChunkBytes;

// A chunk: its row or column, and its first k.
struct Place {
  unsigned i, k;
};

// The n-th chunk of a matrix, of which there are 2 * count.
Place place_of(const SharedMatrix& matrix, unsigned n) {
  if (matrix.k_major) return {n / 2, n % 2 * (kChunkBytes * 8 / bits_of(matrix.element))};
  return {n / 16 * 8, n % 16};
}

std::uint32_t address_of(const SharedMatrix& matrix, unsigned n) {
  const MatrixDescriptor descriptor(matrix.descriptor);
  if (matrix.k_major) return descriptor.k_major(matrix.first + n / 2, n % 2);
  return descriptor.mn_major(matrix.first / 8 + n / 16, n % 16);
}

template <Element e, class T>
void unpack_chunk(const std::byte* chunk, T* to, unsigned step) {
  if constexpr (std::is_same_v<ValueOf<e>, T>) {
    constexpr unsigned kBytes = bits_of(e) / 8;
    for (unsigned i = 0; i < kChunkBytes / kBytes; ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, chunk + i * kBytes, kBytes);
      to[i * step] = value_of<e>(bits);
    }
  }
}

template <class T>
void unpack_chunk(Element element, const std::byte* chunk, T* to, unsigned step) {
  switch (element) {
    case Element::kF16:
      return unpack_chunk<Element::kF16>(chunk, to, step);
    case Element::kBF16:
      return unpack_chunk<Element::kBF16>(chunk, to, step);
    case Element::kTF32:
      return unpack_chunk<Element::kTF32>(chunk, to, step);
    case Element::kE4M3:
      return unpack_chunk<Element::kE4M3>(chunk, to, step);
    case Element::kE5M2:
      return unpack_chunk<Element::kE5M2>(chunk, to, step);
    case Element::kS8:
      return unpack_chunk<Element::kS8>(chunk, to, step);
    case Element::kU8:
      return unpack_chunk<Element::kU8>(chunk, to, step);
    default:
      break;
  }
}

}  // namespace

std::uint32_t digest_of_chunk(const std::byte* chunk) {
  std::uint64_t low = 0, high = 0;
  std::memcpy(&low, chunk, sizeof low);
  std::memcpy(&high, chunk + sizeof low, sizeof high);
  const std::uint64_t mixed =
      (low ^ (high * 0x9e3779b97f4a7c15 + (high >> 31))) * 0xbf58476d1ce4e5b9;
  return static_cast<std::uint32_t>(mixed >> 32);
}

template <class T>
void read_matrix(const SharedMatrix& matrix, const Instruction& at, Warp& warp,
                 const Elements<T>& elements, std::vector<ProductsUnderWay::Chunk>* chunks) {
  if (MatrixDescriptor(matrix.descriptor).is_malformed()) {
    throw Fault{FaultKind::kIllegalAddress, "a matrix descriptor in which reserved bits are set",
                at.line, -1};
  }
  BlockMemory& memory = warp.memory();
  const Request request{*at.access, at.line, warp.index(), warp.clock(), kChunkBytes};
  const unsigned step = matrix.k_major ? elements.step_k : elements.step_i;
  for (unsigned n = 0; n < 2 * matrix.count; ++n) {
    const std::uint32_t offset = address_of(matrix, n);
    const std::byte* const chunk = memory.read_chunk(request, n % kLanes, offset);
    const Place place = place_of(matrix, n);
    unpack_chunk(matrix.element, chunk,
                 elements.to + place.k * elements.step_k + place.i * elements.step_i, step);
    if (memory.is_written(offset, kChunkBytes)) chunks->push_back({offset, digest_of_chunk(chunk)});
  }
}

template void read_matrix(const SharedMatrix&, const Instruction&, Warp&, const Elements<float>&,
                          std::vector<ProductsUnderWay::Chunk>*);
template void read_matrix(const SharedMatrix&, const Instruction&, Warp&,
                          const Elements<std::int32_t>&, std::vector<ProductsUnderWay::Chunk>*);

}  // namespace krl::machine
