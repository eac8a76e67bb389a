// A batch of timed launches: where each has its set of buffers, its inputs, and where its outputs
// are kept until they have been examined. Unpredictable for a candidate. Pure except for the
// generator.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "plugins/backends/cuda/worker/protocol.hpp"

namespace krl::cuda {

// Places of `count` sets of `bytes` bytes between two offsets in an arena, in random order with
// random gaps, none over another. Where there is no room for them, they go beyond the end.
std::vector<std::uint64_t> random_places(std::size_t count, std::uint64_t bytes, std::uint64_t from,
                                         std::uint64_t until, std::mt19937_64& random);

inline constexpr std::uint32_t kMostSamples = 8;  // samples per batch

// Returns how many launches make a sample of a program with so many `kernels`, one launch of which
// took at least `shortest` ns; samples_of_batch returns how many samples make a batch. `set_bytes`:
// the larger set of the two programs that are timed in the same places.
std::uint32_t launches_of_sample(double shortest, std::size_t kernels, std::uint64_t set_bytes,
                                 std::uint64_t arena_bytes);
std::uint32_t samples_of_batch(std::uint64_t set_bytes, std::uint64_t arena_bytes);
// Returns how many sets of a sample are never launched. If there are several launches, one set is
// such a decoy, so that a candidate that works ahead betrays itself.
std::uint32_t decoys_of_sample(std::uint32_t launches);

// The request for a batch, and the examination of it. `pool`: at least as many members as there are
// sets; each is used once. Each set has the next poison. REQUIRES: programs and samples of `time`
// are set.
struct LaunchBatch {
  gpu::Time time;
  std::vector<std::uint64_t> members;  // indices into the pool, by set, except for the first
};
void draw(const std::vector<gpu::DrawnInputs>& pool, std::uint64_t arena_bytes,
          std::mt19937_64& random, LaunchBatch* batch);

// Prepares the examination of the first program's copies; the caller adds what depends on the
// candidate.
gpu::Examine examination(const LaunchBatch& batch);

}  // namespace krl::cuda
