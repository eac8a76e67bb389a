// Compares an output with its expected values. Pure functions.
#pragma once

#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/oracle/expected_output.hpp"

namespace krl::evaluator {

struct ElementError {
  std::int64_t index = 0;
  double got = 0, expected = 0;
};

struct Comparison {
  std::int64_t wrong = 0;                       // number of elements
  std::vector<ElementError> first;              // at most kFirstErrors errors
  double max_abs_error = 0, max_rel_error = 0;  // infinity where a NaN or an infinity is wrong

  bool passed() const { return wrong == 0; }
};

inline constexpr std::size_t kFirstErrors = 4;

// A floating element passes if |got - expected| <= atol + rtol·|expected| + rounding, a NaN only
// where one is expected. An infinity must be the same one. Integers must be equal
// to one that is right.
Comparison compare_output(const ResolvedTensor& tensor, std::span<const std::byte> got,
                          const ExpectedOutput& expected, const Tolerance& tolerance);

// Properties of an output's expected values that limit how much a check of it can tell.
struct OutputTraits {
  bool is_finite = true;       // at least one expected element is finite
  bool accepts_zeros = false;  // within the tolerance, and by rounding alone it would not
};

// `wrong(Tolerance)` returns how many elements are wrong if zeros are compared with the expected
// values under that tolerance; the traits follow from these numbers.
template <class Wrong>
OutputTraits traits_of(DType dtype, std::int64_t elements, const Tolerance& tolerance,
                       const Wrong& wrong) {
  if (!is_floating(dtype)) return {};
  const Tolerance any{0, std::numeric_limits<double>::max()}, none{0, 0};
  return {wrong(any) < elements, wrong(tolerance) == 0 && wrong(none) > 0};
}

// How much a message may reveal about an output's values. Outputs with very few elements could be
// learned by heart, so messages show neither the expected values nor the candidate's, which may be
// the expected ones; for inputs that will be timed again, messages do not even show how large the
// error is.
enum class Telling { kValues, kErrors, kPlaces };
inline constexpr std::int64_t kFewElements = 64;
inline bool is_secret(const ResolvedTensor& tensor) { return tensor.elements <= kFewElements; }

// Describes the comparison: "y: 3 of 1000 elements are wrong: y[0, 3] is 0, expected 1.5; …;
// largest error 1.5"; without values for outputs of few elements: "y: 1 of 4 elements are wrong:
// y[3] by about 40 %".
std::string describe(const ResolvedTensor& tensor, const Comparison& comparison,
                     Telling telling = Telling::kValues);

// "[2, 17]": the place of a row-major index in the tensor.
std::string place_text(const ResolvedTensor& tensor, std::int64_t index);

// A number for a message: short, exact enough to recognise.
std::string number_text(double value);

}  // namespace krl::evaluator
