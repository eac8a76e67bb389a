#include "plugins/backends/evaluator/check/inputs.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "plugins/backends/evaluator/check/element.hpp"

namespace krl::evaluator {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators,
// OOPSLA 2014).
std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::uint64_t bits_at(std::uint64_t seed, std::uint64_t counter) {
  return scramble(seed + (counter + 1) * 0x9e3779b97f4a7c15);
}

// In (0, 1): never an end point, so that its logarithm is finite.
double uniform_at(std::uint64_t seed, std::uint64_t counter) {
  return (static_cast<double>(bits_at(seed, counter) >> 12) + 0.5) * 0x1p-52;
}

// In 0 … bound - 1; the bias is below 2^-16 for the sizes of tensors.
std::uint64_t below_at(std::uint64_t seed, std::uint64_t counter, std::uint64_t bound) {
  return static_cast<std::uint64_t>(uniform_at(seed, counter) * static_cast<double>(bound));
}

// Writes the elements of one tensor one after the other.
class Filler {
 public:
  Filler(const ResolvedTensor& tensor, std::uint64_t seed, double factor,
         std::span<std::byte> bytes)
      : tensor_(tensor), seed_(seed), factor_(factor), bytes_(bytes) {}

  void fill() {
    switch (tensor_.values) {
      case ValueKind::kNormal:
        // A mean is kept: around another one, values may not be what the task is for.
        if (tensor_.low != 0) return normal(1);
        return factor_ == kHalves ? odd_halves(power_of_two_in(tensor_.high)) : normal(factor_);
      case ValueKind::kUniform:
        return uniform(tensor_.low, tensor_.high, 1);
      case ValueKind::kUniformSigned:
        return factor_ == kHalves ? odd_halves(1) : uniform(-1, 1, factor_);
      case ValueKind::kIntegers:
        return integers();
      case ValueKind::kPermutation:
        return permutations();
      case ValueKind::kOneHot:
        return one_hot();
      case ValueKind::kZeros:
        return each([](std::uint64_t) { return 0.0; });
      case ValueKind::kBernoulli:
        return each(
            [&](std::uint64_t i) { return uniform_at(seed_, i) < tensor_.high ? 1.0 : 0.0; });
      case ValueKind::kSorted:
        return each([&](std::uint64_t i) { return sorted_at(i); });
      case ValueKind::kOffsets:
        return each([&](std::uint64_t i) { return offset_at(i); });
    }
  }

 private:
  std::uint64_t elements() const { return static_cast<std::uint64_t>(tensor_.elements); }
  std::uint64_t row_length() const {
    return tensor_.shape.empty() ? 1 : static_cast<std::uint64_t>(tensor_.shape.back());
  }

  void put(std::uint64_t index, double value) {
    const auto size = static_cast<std::uint64_t>(size_of(tensor_.dtype));
    store_number(tensor_.dtype, value, bytes_.data() + index * size);
  }
  template <class Value>
  void each(Value value) {
    for (std::uint64_t i = 0; i < elements(); ++i) put(i, value(i));
  }

  // Where values are enlarged, about a quarter of the rows has an outlier at its beginning, and a
  // quarter at its end: what leaves these elements out of a maximum gets away with it where all
  // elements are alike.
  void put_scaled(std::uint64_t index, double value, double factor, double scale) {
    const std::uint64_t length = row_length(), at = index % length;
    const std::uint64_t turn = (seed_ + index / length) % 4;
    const bool is_end = (turn == 0 && at == 0) || (turn == 1 && at == length - 1);
    const bool is_outlier = factor > 1 && length > 1 && is_end;
    put(index, is_outlier ? 8 * scale + std::abs(value) : value);
  }

  // Box and Muller: two uniforms make two normals.
  void normal(double factor) {
    const double mean = tensor_.low, deviation = factor * tensor_.high;
    for (std::uint64_t i = 0; i < elements(); i += 2) {
      const double radius = deviation * std::sqrt(-2 * std::log(uniform_at(seed_, i)));
      const double angle = 2 * std::numbers::pi * uniform_at(seed_, i + 1);
      put_scaled(i, mean + radius * std::cos(angle), factor, deviation);
      if (i + 1 < elements()) {
        put_scaled(i + 1, mean + radius * std::sin(angle), factor, deviation);
      }
    }
  }
  void uniform(double low, double high, double factor) {
    for (std::uint64_t i = 0; i < elements(); ++i) {
      put_scaled(i, factor * (low + (high - low) * uniform_at(seed_, i)), factor, factor * high);
    }
  }
  // Times `scale`, a power of two, with which they are still exact.
  void odd_halves(double scale) {
    each([&](std::uint64_t i) {
      return scale * (static_cast<double>(below_at(seed_, i, 8)) - 3.5);
    });
  }
  static double power_of_two_in(double deviation) { return std::ldexp(1.0, std::ilogb(deviation)); }
  void integers() {
    const auto low = static_cast<std::int64_t>(std::ceil(tensor_.low));
    const auto high = static_cast<std::int64_t>(std::ceil(tensor_.high));
    const auto span = static_cast<std::uint64_t>(std::max<std::int64_t>(high - low, 1));
    each([&](std::uint64_t i) {
      return static_cast<double>(low + static_cast<std::int64_t>(below_at(seed_, i, span)));
    });
  }
  // Fisher and Yates, one row after the other.
  void permutations() {
    std::vector<std::uint64_t> row(row_length());
    for (std::uint64_t start = 0; start < elements(); start += row.size()) {
      std::iota(row.begin(), row.end(), 0);
      for (std::uint64_t i = row.size(); i > 1; --i) {
        std::swap(row[i - 1], row[below_at(seed_, start + i - 1, i)]);
      }
      for (std::uint64_t i = 0; i < row.size(); ++i) put(start + i, static_cast<double>(row[i]));
    }
  }
  // The element `at` of a row, as if `count` reals in low … high had been drawn and sorted: it begins
  // with the one in the middle, goes on with the one in the middle of the half that `at` is in, and so
  // on. Each lies where a sorted one would on average, shifted by its own draw.
  double in_order(std::uint64_t row, std::uint64_t at, std::uint64_t count, double low,
                  double high) const {
    std::uint64_t first = 0, end = count;
    while (true) {
      const std::uint64_t middle = first + (end - first) / 2;
      const auto n = static_cast<double>(end - first);
      const double share = (static_cast<double>(middle - first) + 1) / (n + 1);
      const double spread = 2 * std::min(share, 1 - share) * std::sqrt(3 / (n + 2));
      const double shifted = share + (uniform_at(seed_, row + middle) - 0.5) * spread;
      const double value = std::min(low + (high - low) * shifted, high);
      if (at == middle) return value;
      if (at < middle) {
        end = middle, high = value;
      } else {
        first = middle + 1, low = value;
      }
    }
  }
  double sorted_at(std::uint64_t index) const {
    const double low = std::ceil(tensor_.low), high = std::ceil(tensor_.high);
    const std::uint64_t at = index % row_length();
    const double real = in_order(index - at, at, row_length(), low, high);
    return std::max(std::min(std::floor(real), high - 1), low);
  }
  double offset_at(std::uint64_t index) const {
    const double low = std::ceil(tensor_.low), high = std::ceil(tensor_.high);
    const std::uint64_t at = index % row_length();
    if (at == 0) return low;
    if (at == row_length() - 1) return high;
    const double real = in_order(index - at, at - 1, row_length() - 2, low, high + 1);
    return std::min(std::floor(real), high);
  }
  void one_hot() {
    const std::uint64_t length = row_length();
    each([&](std::uint64_t i) {
      return below_at(seed_, i / length, length) == i % length ? 1.0 : 0.0;
    });
  }

  const ResolvedTensor& tensor_;
  const std::uint64_t seed_;
  const double factor_;
  const std::span<std::byte> bytes_;
};

}  // namespace

double factor_of(const TaskDefinition& task, Distribution distribution) {
  const bool exact = std::any_of(task.outputs.begin(), task.outputs.end(),
                                 [](const auto& output) { return !is_floating(output.dtype); });
  const double factors[] = {1, 100, 0.01, exact ? -1 : kHalves};
  return factors[static_cast<std::size_t>(distribution)];
}

std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t salt) {
  return scramble(scramble(seed ^ 0x6b65726e656c726c) + salt * 0x9e3779b97f4a7c15);
}

std::uint64_t mix_seed(std::uint64_t seed, std::string_view salt) {
  for (const char c : salt) seed = mix_seed(seed, static_cast<unsigned char>(c));
  return mix_seed(seed, salt.size() + 256);
}

void fill_input(const ResolvedTensor& tensor, std::uint64_t seed, double factor,
                std::span<std::byte> bytes) {
  Filler(tensor, mix_seed(seed, tensor.name), factor, bytes).fill();
  if (tensor.structure == Structure::kGeneral) return;
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  for (std::int64_t i = 0; i < tensor.elements; ++i) {
    std::byte* const element = bytes.data() + static_cast<std::size_t>(i) * size;
    const std::int64_t source = source_of(tensor.structure, tensor.shape.back(), i);
    if (source < 0) std::fill_n(element, size, std::byte{0});
    if (source >= 0)
      std::copy_n(bytes.data() + static_cast<std::size_t>(source) * size, size, element);
  }
}

}  // namespace krl::evaluator
