// How far sums in float32 are from what their rounding may cost, by order of summation:
//
//   summation_bench [MOST]
//
// For each number of terms up to MOST (10^6), kind of values and order: the largest error over what
// the rule allows (reference.hpp, with sums by pairs for the reference's), and the share of draws
// that were accepted.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <kernelrl/task_definition.hpp>
#include <vector>

#include "plugins/backends/evaluator/check/element.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/oracle/reference.hpp"

namespace {

using namespace krl;
using namespace krl::evaluator;
using Values = std::vector<float>;

double exact_sum(const Values& x) {
  double sum = 0;
  for (const float value : x) sum += value;
  return sum;
}

float serial_sum(const Values& x) {
  float sum = 0;
  for (const float value : x) sum += value;
  return sum;
}

float sum_by_pairs(const float* x, std::size_t n) {
  constexpr std::size_t kLanes = 32, kBlock = 512;
  if (n > kBlock) return sum_by_pairs(x, n / 2) + sum_by_pairs(x + n / 2, n - n / 2);
  float lanes[kLanes] = {};
  for (std::size_t i = 0; i < n; ++i) lanes[i % kLanes] += x[i];
  for (std::size_t s = kLanes / 2; s > 0; s /= 2) {
    for (std::size_t i = 0; i < s; ++i) lanes[i] += lanes[i + s];
  }
  return lanes[0];
}

using Rounded = float (*)(float);
float kept(float value) { return value; }
float as_half(float value) { return from_float16(to_float16(value)); }
float as_bfloat16(float value) { return from_bfloat16(to_bfloat16(value)); }

// Of as many threads as a small grid has, then a tree.
float strided_sum(const Values& x, std::size_t end, Rounded input = kept,
                  Rounded accumulator = kept) {
  constexpr std::size_t kThreads = 16384;
  Values sums(kThreads);
  for (std::size_t i = 0; i < end; ++i) {
    float& sum = sums[i % kThreads];
    sum = accumulator(sum + input(x[i]));
  }
  return sum_by_pairs(sums.data(), kThreads);
}

struct Order {
  const char* name;
  std::function<float(const Values&)> sum;
};

const Order kOrders[] = {
    {"serial", serial_sum},
    {"backwards",
     [](const Values& x) {
       return serial_sum({x.rbegin(), x.rend()});
     }},
    {"strided", [](const Values& x) { return strided_sum(x, x.size()); }},
    {"warps, atomics",
     [](const Values& x) {
       float sum = 0;
       for (std::size_t i = 0; i < x.size(); i += 32)
         sum += sum_by_pairs(&x[i], std::min<std::size_t>(32, x.size() - i));
       return sum;
     }},
    {"signs apart",
     [](const Values& x) {
       float positive = 0, negative = 0;
       for (const float value : x) (value > 0 ? positive : negative) += value;
       return positive + negative;
     }},
    {"without the last", [](const Values& x) { return strided_sum(x, x.size() - 1); }},
    {"half inputs", [](const Values& x) { return strided_sum(x, x.size(), as_half); }},
    {"half sums", [](const Values& x) { return strided_sum(x, x.size(), kept, as_half); }},
    {"bfloat16 sums", [](const Values& x) { return strided_sum(x, x.size(), kept, as_bfloat16); }},
};

Values nudged(Values x, std::uint64_t draw) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool up = (mix_seed(draw, i) & 1) != 0;
    x[i] *= up ? 1 + 0x1p-23f : 1 - 0x1p-23f;
  }
  return x;
}

double allowed(const Values& x, double right) {
  constexpr double kRtol = 1e-6;
  constexpr std::uint64_t kDraws = 8;
  const auto error = [&](const Values& values) {
    return std::fabs(sum_by_pairs(values.data(), values.size()) - right);
  };
  double e = error(x);
  const double terms = e == 0 ? 1 : static_cast<double>(x.size());
  for (std::uint64_t draw = 1; draw <= kDraws; ++draw) e = std::max(e, error(nudged(x, draw)));
  return kRtol * std::fabs(right) +
         kRoundingFactor * std::sqrt(terms) * (e + kUnitRoundoff * std::fabs(right));
}

Values drawn(ValueKind kind, Distribution distribution, std::int64_t count, std::uint64_t seed) {
  ResolvedTensor tensor;
  tensor.name = "x";
  tensor.shape = {count};
  tensor.elements = count;
  tensor.values = kind;
  Values values(static_cast<std::size_t>(count));
  fill_input(tensor, seed, distribution, std::as_writable_bytes(std::span(values)));
  return values;
}

void measure(const char* name, ValueKind kind, Distribution distribution, std::int64_t terms) {
  constexpr double kWork = 4e7;
  const int draws = std::clamp(static_cast<int>(kWork / static_cast<double>(terms)), 4, 200);
  std::vector<double> largest(std::size(kOrders));
  std::vector<int> accepted(std::size(kOrders));
  for (int draw = 0; draw < draws; ++draw) {
    const Values x = drawn(kind, distribution, terms, static_cast<std::uint64_t>(draw));
    const double right = exact_sum(x), most = allowed(x, right);
    for (std::size_t o = 0; o < std::size(kOrders); ++o) {
      const double error = std::fabs(kOrders[o].sum(x) - right);
      accepted[o] += error <= most ? 1 : 0;
      if (error > 0) largest[o] = std::max(largest[o], error / most);
    }
  }
  for (std::size_t o = 0; o < std::size(kOrders); ++o) {
    std::printf("%-8s %9lld terms  %-16s %10.3g of what is allowed, accepted %5.1f %% of %d\n",
                name, static_cast<long long>(terms), kOrders[o].name, largest[o],
                100.0 * accepted[o] / draws, draws);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const double most = argc > 1 ? std::strtod(argv[1], nullptr) : 1e6;
  for (const double terms : {1e1, 1e2, 1e3, 8192.0, 1e5, 1e6, 1e7, 1e8}) {
    if (terms > most) break;
    const auto count = static_cast<std::int64_t>(terms);
    measure("normal", ValueKind::kNormal, Distribution::kAsGiven, count);
    measure("halves", ValueKind::kNormal, Distribution::kOddHalves, count);
    measure("uniform", ValueKind::kUniform, Distribution::kAsGiven, count);
  }
  return 0;
}
