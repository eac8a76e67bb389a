// Fragments: the layout of the matrices of a product D = A B + C in the registers of a warp's
// lanes.
//
// The layout is that of mma in the PTX ISA. wmma, whose layouts are not documented, has the same
// for its shapes, so that loads, products, stores and operations on single elements agree.
// With g = lane / 4 and t = lane % 4, and n elements to a register, a register of A holds the
// elements t * n … t * n + n - 1 of row g of a tile of 8 rows, and one of B those of column g of a
// tile of 8 columns. For C and D, a lane has the columns 2t and 2t + 1 of row g of a tile of 8 x 8.
// Tiles follow each other down the rows first.
#pragma once

#include <cstdint>
#include <cstring>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/operations/elements.hpp"

namespace krl::machine {

enum class Part : std::uint8_t { kA, kB, kC };  // kC: of C and D

struct Fragment {
  Part part = Part::kA;
  unsigned rows = 0, columns = 0;  // shape of the matrix
  Element element = Element::kF16;

  unsigned registers() const { return rows * columns / (kLanes * per_register(element)); }

  // Element i of a lane's register is at row + g * row_of_g + t * row_of_t, and so on.
  struct Place {
    unsigned row, column;
    unsigned row_of_g, row_of_t, column_of_g, column_of_t;

    unsigned row_in(unsigned lane) const { return row + lane / 4 * row_of_g + lane % 4 * row_of_t; }
    unsigned column_in(unsigned lane) const {
      return column + lane / 4 * column_of_g + lane % 4 * column_of_t;
    }
  };
  Place place(unsigned reg, unsigned i) const {
    const unsigned n = per_register(element);
    if (part == Part::kA) {
      const unsigned down = rows / 8;
      return {reg % down * 8, reg / down * 4 * n + i, 1, 0, 0, n};
    }
    if (part == Part::kB) {
      const unsigned down = rows / (4 * n);
      return {reg % down * 4 * n + i, reg / down * 8, 0, n, 1, 0};
    }
    const unsigned down = rows / 8, at = reg * n + i;
    return {at / 2 % down * 8, at / 2 / down * 8 + at % 2, 1, 0, 0, 2};
  }
};

inline constexpr std::size_t kMatrixElements = 16 * 64;  // no matrix has more

// Convert between matrices, row by row, and fragments. offsets[i]: offset in the frame of the row
// of register i.
template <Element e>
void unpack(const Fragment& fragment, std::byte* frame, const std::uint32_t* offsets,
            ValueOf<e>* matrix) {
  for (unsigned reg = 0; reg < fragment.registers(); ++reg) {
    for (unsigned i = 0; i < per_register(e); ++i) {
      ValueOf<e> values[kLanes];
      if constexpr (e == Element::kF64) {
        std::memcpy(values, frame + offsets[reg], sizeof values);
      } else {
        const auto* bits = row<const std::uint32_t>(frame, offsets[reg]);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          values[lane] = value_of<e>(bits[lane] >> (i * bits_of(e)));
        }
      }
      const Fragment::Place place = fragment.place(reg, i);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        matrix[place.row_in(lane) * fragment.columns + place.column_in(lane)] = values[lane];
      }
    }
  }
}

// Packs results: kF16, kF32, kF64, kS32.
template <Element e>
void pack(const Fragment& fragment, const ValueOf<e>* matrix, std::byte* frame,
          const std::uint32_t* offsets) {
  for (unsigned reg = 0; reg < fragment.registers(); ++reg) {
    for (unsigned i = 0; i < per_register(e); ++i) {
      const Fragment::Place place = fragment.place(reg, i);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const auto value = matrix[place.row_in(lane) * fragment.columns + place.column_in(lane)];
        if constexpr (e == Element::kF16) {
          row<std::uint16_t>(frame, offsets[reg])[lane * 2 + i] = half_of(value);
        } else {
          row<ValueOf<e>>(frame, offsets[reg])[lane] = value;
        }
      }
    }
  }
}

}  // namespace krl::machine
