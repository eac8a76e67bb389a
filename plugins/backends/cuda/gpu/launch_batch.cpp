#include "plugins/backends/cuda/gpu/launch_batch.hpp"

#include <algorithm>
#include <numeric>

namespace krl::cuda {
namespace {

constexpr std::uint64_t kGrain = 256;  // places are multiples of it, as cudaMalloc's are
constexpr double kSampleNs = 80'000;   // shorter kernels are timed several launches a sample
// Launches per sample. The host takes 3 to 4 us to enqueue one, the GPU at least 2 us to execute
// it, and 50 us for the preparation of each sample: with more launches it would wait for the host.
constexpr std::uint64_t kMostLaunches = 32;
// Bytes per sample, since its inputs must be drawn.
constexpr std::uint64_t kMostSetBytes = 64 << 20;

std::uint64_t most_bytes(const gpu::Time& time) {
  std::uint64_t bytes = 0;
  for (const gpu::Timed& timed : time.programs) bytes = std::max(bytes, timed.program.bytes);
  return bytes;
}

}  // namespace

std::vector<std::uint64_t> random_places(std::size_t count, std::uint64_t bytes, std::uint64_t from,
                                         std::uint64_t until, std::mt19937_64& random) {
  const std::uint64_t first = (from + kGrain - 1) / kGrain, units = (bytes + kGrain - 1) / kGrain;
  const std::uint64_t room = until / kGrain > first ? until / kGrain - first : 0;
  const std::uint64_t taken = count * units, spare = room > taken ? room - taken : 0;
  std::vector<std::uint64_t> places(count);
  for (std::uint64_t& gap : places) gap = random() % (spare + 1);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < count; ++i) places[i] = (first + places[i] + i * units) * kGrain;
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

std::uint32_t launches_of_sample(double shortest, std::size_t kernels, std::uint64_t set_bytes,
                                 std::uint64_t arena_bytes) {
  const auto wanted = static_cast<std::uint64_t>(kSampleNs / std::max(shortest, 1.0)) + 1;
  // Half of the arena for the copies of a batch, a quarter for the sets of a sample and their gaps.
  const std::uint64_t sets = std::min(arena_bytes / 4, kMostSetBytes) / set_bytes;
  const std::uint64_t kept = arena_bytes / 2 / (kMostSamples * set_bytes);
  const std::uint64_t room = std::max<std::uint64_t>(std::min(sets, kept), 2) - 1;  // and a decoy
  return static_cast<std::uint32_t>(
      std::max<std::uint64_t>(std::min({wanted, kMostLaunches / kernels, room}), 1));
}

std::uint32_t samples_of_batch(std::uint64_t set_bytes, std::uint64_t arena_bytes) {
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(arena_bytes / 2 / set_bytes, 1, kMostSamples));
}

std::uint32_t decoys_of_sample(std::uint32_t launches) { return launches > 1 ? 1 : 0; }

void draw(const std::vector<gpu::DrawnInputs>& pool, std::uint64_t arena_bytes,
          std::mt19937_64& random, LaunchBatch* batch) {
  gpu::Time& time = batch->time;
  const gpu::Timed& first = time.programs.front();
  const std::uint64_t kept_bytes = time.samples * first.sets() * first.program.bytes;
  // The copies are at one end of the arena, the sets in the rest of it.
  const bool front = random() % 2 == 0;
  const std::uint64_t from = front ? kept_bytes : 0;
  const std::uint64_t until = front ? arena_bytes : arena_bytes - std::min(arena_bytes, kept_bytes);
  const std::uint64_t bytes = most_bytes(time);
  time.sets = 0;
  for (const gpu::Timed& timed : time.programs) time.sets = std::max(time.sets, timed.sets());
  time.places = random_places(1, bytes, from, until, random);
  for (std::uint32_t sample = 0; sample < time.samples; ++sample) {
    const auto places = random_places(time.sets, bytes, from, until, random);
    time.places.insert(time.places.end(), places.begin(), places.end());
  }
  time.kept = random_places(time.samples * first.sets(), first.program.bytes, front ? 0 : until,
                            front ? kept_bytes : arena_bytes, random);
  batch->members.resize(pool.size());
  std::iota(batch->members.begin(), batch->members.end(), 0);
  std::shuffle(batch->members.begin(), batch->members.end(), random);
  batch->members.resize(std::size_t{time.samples} * time.sets);
  time.inputs = {{random()}};
  for (const std::uint64_t member : batch->members) time.inputs.push_back(pool[member]);
  time.poisons.resize(time.places.size());
  std::iota(time.poisons.begin(), time.poisons.end(), random());
}

gpu::Examine examination(const LaunchBatch& batch) {
  const gpu::Time& time = batch.time;
  gpu::Examine examine;
  examine.timed = time.programs.front();
  examine.kept = time.kept;
  for (std::uint32_t sample = 0; sample < time.samples; ++sample) {
    for (std::uint32_t set = 0; set < examine.timed.sets(); ++set) {
      const std::size_t index = std::size_t{sample} * time.sets + set;
      examine.places.push_back(time.places[1 + index]);
      examine.members.push_back(batch.members[index]);
      examine.poisons.push_back(time.poisons[1 + index]);
    }
  }
  return examine;
}

}  // namespace krl::cuda
