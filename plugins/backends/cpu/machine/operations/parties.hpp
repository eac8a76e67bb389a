// The operands and results of lanes that meet. Lanes that came to the operation at different places
// have their operands in different rows.
//
// An operand is named by an accessor of its row in an instruction: &Instruction::a, or a function
// of the instruction.
#pragma once

#include <bit>
#include <functional>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

class Parties {
 public:
  Parties(const Party* first, std::size_t count) : first_(first), count_(count) {
    for (const Party& party : *this) lanes_ |= party.mask;
  }
  const Party* begin() const { return first_; }
  const Party* end() const { return first_ + count_; }
  std::size_t count() const { return count_; }
  Mask lanes() const { return lanes_; }
  bool has(unsigned lane) const { return (lanes_ >> lane & 1) != 0; }
  unsigned leader() const { return static_cast<unsigned>(std::countr_zero(lanes_)); }

  // One operand of all lanes, as a row. Lanes that do not take part have any value.
  template <class T>
  class Row {
   public:
    template <class Operand>
    Row(const Parties& parties, Operand operand) {
      const auto of = [&](const Party& party) {
        return row<const T>(party.frame, std::invoke(operand, *party.at));
      };
      if (parties.count_ == 1) {
        values_ = of(*parties.first_);
        return;
      }
      for (const Party& party : parties) store_lanes(joined_, of(party), party.mask);
    }
    Row(const Row&) = delete;
    Row& operator=(const Row&) = delete;
    const T& operator[](std::size_t lane) const { return values_[lane]; }

   private:
    alignas(kRowAlignment) T joined_[kLanes];
    const T* values_ = joined_;
  };

  // One predicate of all lanes; false for lanes that do not take part.
  template <class Operand>
  Mask predicate(Operand operand) const {
    Mask value = 0;
    for (const Party& party : *this) {
      value |= *row<const Mask>(party.frame, std::invoke(operand, *party.at)) & party.mask;
    }
    return value;
  }

  // Each lane's operand becomes value(lane); nothing happens where it is not a row.
  template <class T, class Operand, class Value>
  void set(Operand operand, Value value) const {
    for (const Party& party : *this) {
      if (const std::uint32_t to = std::invoke(operand, *party.at); to != 0) {
        set_lanes(row<T>(party.frame, to), party.mask, value);
      }
    }
  }
  template <class Operand>
  void set_predicate(Operand operand, Mask value) const {
    for (const Party& party : *this) {
      if (const std::uint32_t to = std::invoke(operand, *party.at); to != 0) {
        machine::set_predicate(row<Mask>(party.frame, to), party.mask, value);
      }
    }
  }

 private:
  const Party* first_;
  std::size_t count_;
  Mask lanes_ = 0;
};

}  // namespace krl::machine
