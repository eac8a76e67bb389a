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

// How the values of a run differ from the definition's. Only inputs of kind normal and
// uniform_signed are changed; the others mean what they are (indices, probabilities, masks).
// Times 100 what overflows does, times 0.01 constants that were left out are seen; with the former,
// half of the rows begin or end with a value of 8 to 13 deviations. Sums and sums of
// products of odd halves are exact in float32 in any order, up to 10^8 of them, so that a single
// missing term is seen; since their maxima are not unique, outputs of integers get the values
// negated instead.
enum class Distribution : std::uint8_t { kAsGiven, kHundredfold, kHundredth, kOddHalves };

// The factor that a distribution puts on the values, or kHalves: odd multiples of 0.5 from -3.5 to
// 3.5.
inline constexpr double kHalves = 0;
double factor_of(const TaskDefinition& task, Distribution distribution);

// Mixes numbers and a text into a seed that has nothing visible in common with them.
std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t salt);
std::uint64_t mix_seed(std::uint64_t seed, std::string_view salt);

// Fills `bytes` (tensor.bytes() of them) with the elements of an input.
void fill_input(const ResolvedTensor& tensor, std::uint64_t seed, double factor,
                std::span<std::byte> bytes);

}  // namespace krl::evaluator
