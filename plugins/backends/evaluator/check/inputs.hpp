// The inputs of a case, generated from a seed by trusted code, never by a candidate.
//
// Counter-based: an element depends only on the seed, its tensor and its index, so that any part
// can be generated anywhere, in any order. Pure functions.
#pragma once

#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <span>
#include <string_view>

namespace krl::evaluator {

// How the values of a run differ from the task's definition: see draws.inc. Only reals of kind
// normal without a mean, or uniform_signed, are changed. Reals with bounds stay within them, near
// an end or with few distinct values. Whole numbers, flags and one-hot rows take special patterns:
// all equal, in order, all, none, one.
enum class Distribution : std::uint8_t {
  kAsGiven,
  // In every four rows, one begins and one ends with a value of 8 to 13 deviations, and one lies
  // below -100.
  kHundredfold,
  kHundredth,
  // -3.5 to 3.5: float32 sums 10^8 of them, and of their products, without an error.
  kOddHalves,
  // Rows of one value, in order, of zeros, of two values, with one large element or lane, 128
  // times, below -128.
  kStructured,
  // A mean of a hundred deviations, above or below 0, where rows are not short; or odd halves
  // around -2^14, or -2^9 in float16, where they are neither short nor long.
  kOffset,
  // Below -2^14, or -2^10 in float16; an eighth of the rows, or all, below -2^70, an eighth above
  // 2^14 in one lane.
  kBelow,
  kLarge,      // 2^28 times, where squares are finite; 2^10 in float16
  kSmall,      // each row of up to 1024 by a power of two of its own, 2^-8 to 2^-40
  kSubnormal,  // likewise rows of any length, and half of them below the least normal number
  kRare,       // odd halves, but for one value of 256 deviations or more in half of the rows
};
inline constexpr std::size_t kDistributions = 11;

// Equal values round alike and tie.
constexpr bool repeats_values(Distribution distribution) {
  return distribution == Distribution::kOddHalves || distribution == Distribution::kStructured ||
         distribution == Distribution::kRare;
}

// Mixes numbers and a text into a seed that has nothing visible in common with them.
std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t salt);
std::uint64_t mix_seed(std::uint64_t seed, std::string_view salt);

// Fills `bytes` (tensor.bytes() of them) with the elements of an input.
void fill_input(const ResolvedTensor& tensor, std::uint64_t seed, Distribution distribution,
                std::span<std::byte> bytes);

}  // namespace krl::evaluator
