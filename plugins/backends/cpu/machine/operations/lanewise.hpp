// Operations that compute every lane by itself: the function of one lane's values determines the
// rows and their types.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "plugins/backends/cpu/machine/lanes.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// row[i] = value(i) for the lanes of `mask`. `value` is called for every lane, in any order, and
// reads lane i of rows that are `to` itself or do not overlap it: so it can write in place.
template <class T, class Value>
inline void set_lanewise(T* to, Mask mask, Value value) {
  alignas(kRowAlignment) T computed[kLanes];
  T* const target = mask == kAllLanes ? to : computed;
#pragma GCC ivdep
  for (unsigned i = 0; i < kLanes; ++i) target[i] = value(i);
  if (mask != kAllLanes) store_lanes(to, computed, mask);
}

inline std::uint32_t source_row(const Instruction& instruction, std::size_t index) {
  const std::uint32_t rows[] = {instruction.a, instruction.b, instruction.c, instruction.e};
  return rows[index];
}

template <class Function>
struct Lanewise;
template <class D, class... S>
struct Lanewise<D (*)(S...)> {
  template <D (*function)(S...), std::size_t... index>
  static void apply(const Instruction& instruction, std::byte* frame, Mask mask,
                    std::index_sequence<index...>) {
    // Pointers by value in the closure, so that the compiler sees that nothing changes them.
    [mask, to = row<D>(frame, instruction.d)](const S*... from) {
      set_lanewise(to, mask, [=](unsigned i) { return function(from[i]...); });
    }(row<S>(frame, source_row(instruction, index))...);
  }
  template <bool (*function)(S...), std::size_t... index>
  static void test(const Instruction& instruction, std::byte* frame, Mask mask,
                   std::index_sequence<index...>) {
    [&](const S*... from) {
      set_predicate(row<Mask>(frame, instruction.d), mask,
                    lanes_where([=](unsigned i) { return function(from[i]...); }));
    }(row<S>(frame, source_row(instruction, index))...);
  }
  using Sources = std::index_sequence_for<S...>;
};

// d[i] = function(a[i], b[i], …); of a function that returns bool, d is a predicate.
template <auto function>
void lanewise(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  using Shape = Lanewise<decltype(function)>;
  Shape::template apply<function>(instruction, frame, mask, typename Shape::Sources());
}
template <auto function>
void test_lanes(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  using Shape = Lanewise<decltype(function)>;
  Shape::template test<function>(instruction, frame, mask, typename Shape::Sources());
}

// d = function(a, b, …) of whole predicates: a bit a lane.
template <Mask (*function)(Mask)>
void maskwise(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  set_predicate(row<Mask>(frame, instruction.d), mask, function(*row<Mask>(frame, instruction.a)));
}
template <Mask (*function)(Mask, Mask)>
void maskwise(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  set_predicate(row<Mask>(frame, instruction.d), mask,
                function(*row<Mask>(frame, instruction.a), *row<Mask>(frame, instruction.b)));
}

}  // namespace krl::machine
