#include "plugins/backends/evaluator/check/comparison.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "plugins/backends/evaluator/check/element.hpp"

namespace krl::evaluator {
namespace {

// Collects the wrong elements and the largest errors.
class Collector {
 public:
  void add(std::int64_t index, double got, double expected, bool right) {
    if (right) return;
    ++result.wrong;
    if (result.first.size() < kFirstErrors) result.first.push_back({index, got, expected});
  }
  void measure(double error, double magnitude) {
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
    result.max_abs_error = std::max(result.max_abs_error, error);
    if (magnitude > 0) result.max_rel_error = std::max(result.max_rel_error, error / magnitude);
  }
  Comparison result;
};

bool same_special(double got, double expected) {
  return std::isnan(expected) ? std::isnan(got) : got == expected;
}

Comparison compare_reals(const ResolvedTensor& tensor, std::span<const std::byte> got,
                         const ExpectedOutput& expected, const Tolerance& tolerance) {
  Collector collector;
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  for (std::size_t i = 0; i < expected.reals.size(); ++i) {
    const double right = expected.reals[i];
    const double value = load_real(tensor.dtype, got.data() + i * size);
    const auto index = static_cast<std::int64_t>(i);
    if (!std::isfinite(right)) {
      const bool same = same_special(value, right);
      if (!same) collector.measure(std::numeric_limits<double>::infinity(), 0);
      collector.add(index, value, right, same);
      continue;
    }
    const double error = std::fabs(value - right);
    collector.measure(error, std::fabs(right));
    const double allowed =
        tolerance.atol + tolerance.rtol * std::fabs(right) + expected.rounding[i];
    collector.add(index, value, right, error <= allowed);
  }
  return std::move(collector.result);
}

Comparison compare_integers(const ResolvedTensor& tensor, std::span<const std::byte> got,
                            const ExpectedOutput& expected) {
  Collector collector;
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  const auto elements = static_cast<std::size_t>(tensor.elements);
  for (std::size_t i = 0; i < elements; ++i) {
    const std::int64_t value = load_integer(tensor.dtype, got.data() + i * size);
    bool right = expected.integers[i] == kAnyInteger;
    for (std::size_t c = i; c < expected.integers.size() && !right; c += elements)
      right = value == expected.integers[c];
    const auto a = static_cast<double>(value), b = static_cast<double>(expected.integers[i]);
    if (!right) collector.measure(std::fabs(a - b), std::fabs(b));
    collector.add(static_cast<std::int64_t>(i), a, b, right);
  }
  return std::move(collector.result);
}

std::string with_digits(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

// Whole numbers as they are, others with enough digits to tell the two apart.
std::string values_text(const ResolvedTensor& tensor, const ElementError& error) {
  constexpr int kFew = 6, kOfFloat = 9, kAll = 17;
  int digits = is_floating(tensor.dtype) ? kFew : kAll;
  const auto text = [&](double value) { return with_digits(value, digits); };
  if (digits == kFew && text(error.got) == text(error.expected)) digits = kOfFloat;
  return " is " + text(error.got) + ", expected " + text(error.expected);
}

// Describes the relative error, too roughly to reveal the right value; empty if even that would.
std::string share_text(const ResolvedTensor& tensor, const ElementError& error) {
  const double share = std::fabs(error.got - error.expected) / std::fabs(error.expected);
  if (!is_floating(tensor.dtype) || !std::isfinite(share)) return {};
  if (share >= 10) return " by far";
  char text[16];
  std::snprintf(text, sizeof text, "%.0e", 100 * share);  // one digit
  return " by about " + number_text(std::strtod(text, nullptr)) + " %";
}

}  // namespace

Comparison compare_output(const ResolvedTensor& tensor, std::span<const std::byte> got,
                          const ExpectedOutput& expected, const Tolerance& tolerance) {
  return is_floating(tensor.dtype) ? compare_reals(tensor, got, expected, tolerance)
                                   : compare_integers(tensor, got, expected);
}

std::string number_text(double value) { return with_digits(value, 6); }

std::string place_text(const ResolvedTensor& tensor, std::int64_t index) {
  std::string text = "[";
  std::int64_t stride = tensor.elements;
  for (const std::int64_t size : tensor.shape) {
    stride /= size;
    if (text.size() > 1) text += ", ";
    text += std::to_string(index / stride % size);
  }
  if (tensor.shape.empty()) text += "0";
  return text + "]";
}

std::string describe(const ResolvedTensor& tensor, const Comparison& comparison, Telling telling) {
  if (telling == Telling::kValues && is_secret(tensor)) telling = Telling::kErrors;
  const bool tells = telling == Telling::kValues;
  std::string text = tensor.name + ": " + std::to_string(comparison.wrong) + " of " +
                     std::to_string(tensor.elements) + " elements are wrong: ";
  for (const ElementError& error : comparison.first) {
    if (&error != &comparison.first.front()) text += "; ";
    text += tensor.name + place_text(tensor, error.index);
    if (tells) text += values_text(tensor, error);
    if (telling == Telling::kErrors) text += share_text(tensor, error);
  }
  return tells ? text + "; largest error " + number_text(comparison.max_abs_error) : text;
}

}  // namespace krl::evaluator
