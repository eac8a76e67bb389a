// Common to all instructions on matrices: they are executed by all lanes of a warp at once
// (.aligned), and their operands are lists of registers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/cpu/machine/operands.hpp"
#include "plugins/backends/cpu/machine/operations/fragments.hpp"

namespace krl::machine {

// The shape of a product: D and C have m x n, A has m x k, B has k x n elements.
struct MatrixShape {
  std::uint8_t m = 0, n = 0, k = 0;
  bool operator==(const MatrixShape&) const = default;

  Fragment fragment(Part part, Element element) const {
    if (part == Part::kA) return {part, m, k, element};
    if (part == Part::kB) return {part, k, n, element};
    return {part, m, n, element};
  }
};
std::optional<MatrixShape> shape_named(std::string_view name);  // "m16n8k16"
// True if mma, or wmma, multiplies matrices of such a shape with elements of this type.
bool is_shape_of_mma(const MatrixShape& shape, Element element);
bool is_shape_of_wmma(const MatrixShape& shape, Element element);
bool is_result_of_wmma(const MatrixShape& shape, Element element);

std::optional<Element> element_named(std::string_view name);  // "f16"

// The modifiers of an instruction, taken one after the other.
class Modifiers {
 public:
  explicit Modifiers(const ptx::Instruction& instruction) : names_(instruction.modifiers) {}

  bool at_end() const { return next_ == names_.size(); }
  // Takes the next one if it is `name`.
  bool take(std::string_view name) {
    const bool found = !at_end() && names_[next_] == name;
    if (found) ++next_;
    return found;
  }
  bool take_layout(bool* row) {
    *row = take("row");
    return *row || take("col");
  }
  std::optional<MatrixShape> take_shape() { return taken(shape_named); }
  std::optional<Element> take_element() { return taken(element_named); }

 private:
  template <class T>
  std::optional<T> taken(std::optional<T> (*named)(std::string_view)) {
    const std::optional<T> value = at_end() ? std::nullopt : named(names_[next_]);
    if (value) ++next_;
    return value;
  }

  const std::vector<std::string>& names_;
  std::size_t next_ = 0;
};

// Offsets of rows, which an instruction finds in a separate row.
using RowOffsets = std::array<std::uint32_t, kLanes>;
// Writes the rows of an operand, a register or a list of registers, to `to`, and returns their
// number. The list may be longer by a whole factor: on some GPUs, the fragments of wmma contain
// each element several times.
enum class Use { kRead, kWritten };
std::size_t add_rows(const ptx::Instruction& instruction, const ptx::Operand& operand,
                     const Fragment& fragment, Use use, Operands& operands, std::uint32_t* to);

// Throws Fault if lanes are missing or are at several places, which is undefined on a GPU.
void require_whole_warp(const Party* parties, std::size_t count);

}  // namespace krl::machine
