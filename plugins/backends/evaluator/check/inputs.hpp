// The inputs of a case, drawn from a seed: made by the trusted side, never by a candidate.
//
// Counter-based: an element depends on the seed, its tensor and its index alone, so that any part
// can be made anywhere, in any order. Pure functions.
#pragma once

#include <cstdint>
#include <kernelrl/task_definition.hpp>
#include <span>
#include <string_view>

namespace krl {

// How the values of a run differ from the definition's. Only inputs of kind normal and
// uniform_signed are changed; the others mean what they are (indices, probabilities, masks).
enum class Distribution : std::uint8_t { kAsGiven, kTripled, kHundredth, kNegated };

// The factor that a distribution puts on the values.
double factor_of(Distribution distribution);

// Mixes numbers and a text into a seed that has nothing visible in common with them.
std::uint64_t mix_seed(std::uint64_t seed, std::uint64_t salt);
std::uint64_t mix_seed(std::uint64_t seed, std::string_view salt);

// Fills `bytes` (tensor.bytes() of them) with the elements of an input.
void fill_input(const ResolvedTensor& tensor, std::uint64_t seed, Distribution distribution,
                std::span<std::byte> bytes);

// What outputs and scratch buffers hold before a launch: NaN in every floating type, an unlikely
// number in the integer ones, and no valid bool.
inline constexpr std::byte kPoison{0xff};

}  // namespace krl
