#include "plugins/backends/cuda/gpu/launch_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace krl::cuda {
namespace {

constexpr std::uint64_t kArena = 64 << 20, kSet = 20 << 10;

LaunchBatch drawn(std::uint32_t launches, std::mt19937_64& random) {
  LaunchBatch batch;
  gpu::Program ours, theirs;
  ours.bytes = kSet;
  theirs.bytes = 2 * kSet;
  batch.time.programs = {{ours, launches, decoys_of_sample(launches)}, {theirs, 1, 0}};
  batch.time.samples = 8;
  std::vector<gpu::DrawnInputs> pool;
  for (std::uint64_t seed = 1000; seed < 1512; ++seed) pool.push_back({seed});
  draw(pool, kArena, random, &batch);
  return batch;
}

TEST(LaunchBatch, NoTwoSetsMeetAndAllLieInTheArena) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) {
    const LaunchBatch batch = drawn(32, random);
    ASSERT_EQ(batch.time.places.size(), 1 + 8 * 33u);
    ASSERT_EQ(batch.time.kept.size(), 8 * 33u);
    for (std::size_t sample = 0; sample < 8; ++sample) {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
      for (std::size_t set = 0; set < 33; ++set) {
        taken.emplace_back(batch.time.places[1 + sample * 33 + set], 2 * kSet);
      }
      for (const std::uint64_t kept : batch.time.kept) taken.emplace_back(kept, kSet);
      std::sort(taken.begin(), taken.end());
      for (std::size_t t = 0; t < taken.size(); ++t) {
        const std::uint64_t end = taken[t].first + taken[t].second;
        ASSERT_LE(end, t + 1 < taken.size() ? taken[t + 1].first : kArena);
        ASSERT_EQ(taken[t].first % 256, 0u);
      }
    }
  }
}

TEST(LaunchBatch, UsesEachInputOnce) {
  std::mt19937_64 random(2);
  const LaunchBatch batch = drawn(32, random);
  std::set<std::uint64_t> seeds;
  for (const gpu::DrawnInputs& drawn : batch.time.inputs) seeds.insert(drawn.seed);
  EXPECT_EQ(seeds.size(), 1 + 8 * 33u);
  const gpu::Examine examine = examination(batch);
  for (std::size_t s = 0; s < examine.places.size(); ++s) {
    EXPECT_EQ(batch.time.inputs[1 + s].seed, 1000 + examine.members[s]);
  }
}

// Neither steps nor an order that the launches before would tell.
TEST(LaunchBatch, ItsInputsAreTheSameAsAMessage) {
  const std::vector<gpu::DrawnInputs> inputs = {{~0ull, evaluator::Distribution::kStructured, 3},
                                                {4},
                                                {5, evaluator::Distribution::kAsGiven, 1ull << 63}};
  const auto read = nlohmann::json(inputs).get<std::vector<gpu::DrawnInputs>>();
  ASSERT_EQ(read.size(), inputs.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].seed, inputs[i].seed);
    EXPECT_EQ(read[i].distribution, inputs[i].distribution);
    EXPECT_EQ(read[i].change, inputs[i].change);
  }
}

TEST(LaunchBatch, PlacesHaveNoPattern) {
  std::mt19937_64 random(3);
  std::set<std::int64_t> steps;
  int up = 0, all = 0;
  for (int i = 0; i < 20; ++i) {
    const LaunchBatch batch = drawn(32, random);
    for (std::size_t s = 2; s < batch.time.places.size(); ++s, ++all) {
      const auto step = static_cast<std::int64_t>(batch.time.places[s]) -
                        static_cast<std::int64_t>(batch.time.places[s - 1]);
      steps.insert(step);
      up += step > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(steps.size(), static_cast<std::size_t>(all) * 9 / 10);
  EXPECT_NEAR(up, all / 2, all / 20);
}

TEST(LaunchBatch, FitsIntoSmallArenas) {
  EXPECT_EQ(launches_of_sample(1, 1, kArena / 3, kArena), 1u);
  EXPECT_EQ(samples_of_batch(kArena / 3, kArena), 1u);
  EXPECT_EQ(launches_of_sample(1, 1, kSet, kArena), 32u);
  EXPECT_EQ(launches_of_sample(1e6, 1, kSet, kArena), 1u);
  EXPECT_EQ(samples_of_batch(kSet, kArena), 8u);
}

// A sample's places serve both programs, so that many launches of the smaller one need room for as
// many sets of the larger one.
TEST(LaunchBatch, ALargeSetFitsBesideASmallOne) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t kLarge = kArena / 5;
  gpu::Program ours, theirs;
  ours.bytes = kLarge;
  theirs.bytes = kSet;
  const std::uint32_t launches = launches_of_sample(1, 1, std::max(kLarge, kSet), kArena);
  LaunchBatch batch;
  batch.time.programs = {{ours, 1, 0}, {theirs, launches, decoys_of_sample(launches)}};
  batch.time.samples = samples_of_batch(kLarge, kArena);
  draw(std::vector<gpu::DrawnInputs>(512), kArena, random, &batch);
  for (const std::uint64_t place : batch.time.places) EXPECT_LE(place + kLarge, kArena);
}

}  // namespace
}  // namespace krl::cuda
