// Candidates for the task y = 2 x, good ones and others.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "tests/unit/backends/gpu/simulated_kernel.hpp"

namespace {

int launches = 0;                   // as a candidate's __device__ variable would count them
const float* remembered = nullptr;  // where an answer was left
float seen[1000];                   // of each launch's inputs
int inputs_seen = 0;
bool knows = false;
int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
bool first_thread() { return index() == 0; }

}  // namespace

void good(const float* x, float* y, int n) {
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(good)

// Finds x by a tensor map of 8 columns.
void by_tensor_map(SimulatedTensorMap x, float* y, int n) {
  const bool known = x.columns == 8 && x.rows == static_cast<unsigned>(n) / 8 && x.stride == 32 &&
                     x.box_columns == 8 && x.box_rows == 2 && x.type == 2 && x.swizzle == 1;
  const auto* const values = static_cast<const float*>(x.address);
  if (known && index() < n) y[index()] = 2 * values[index()];
}
SIMULATED(by_tensor_map)

// As good, and some times slower.
void slow(const float* x, float* y, int n) {
  if (index() >= n) return;
  volatile float sum = 0;
  for (int i = 0; i < 200; ++i) sum = sum + x[index()];
  y[index()] = 2 * x[index()];
}
SIMULATED(slow)

// Right, and it reaches into the code beside it, which then takes a hundred times as long.
void slows_the_baseline(const float* x, float* y, int n) {
  if (first_thread()) ::setenv("KRL_SIMULATED_SLOW", "1", 1);
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(slows_the_baseline)

void can_be_slowed(const float* x, float* y, int n) {
  if (first_thread() && ::getenv("KRL_SIMULATED_SLOW") != nullptr) {
    for (int i = 0; i < 1'000'000; ++i) asm volatile("");
  }
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(can_be_slowed)

namespace {

// Is there a process of this name?
bool lives(const std::string& name) {
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    std::string found;
    std::ifstream(process.path() / "comm") >> found;
    if (found == name) return true;
  }
  return false;
}

}  // namespace

// A hundred times slower while a certain candidate's process lives.
void slower_in_company(const float* x, float* y, int n) {
  if (first_thread() && lives("krl-company")) ::usleep(200'000);
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(slower_in_company)

void wrong(const float* x, float* y, int n) {
  if (index() < n) y[index()] = index() == 3 ? 0 : 2 * x[index()];
}
SIMULATED(wrong)

void skips_the_tail(const float* x, float* y, int n) {
  if (index() < n / 32 * 32) y[index()] = 2 * x[index()];
}
SIMULATED(skips_the_tail)

void writes_outside(const float* x, float* y, int n) {
  if (index() <= n) y[index()] = index() < n ? 2 * x[index()] : 0;
}
SIMULATED(writes_outside)

void changes_its_input(float* x, float* y, int n) {
  if (index() < n) y[index()] = 2 * x[index()];
  if (index() == 0) x[0] = 1;
}
SIMULATED(changes_its_input)

void faults(const float*, float*, int) { *reinterpret_cast<volatile int*>(8) = 1; }
SIMULATED(faults)

void wrong_where_large_and_faults_elsewhere(const float* x, float* y, int n) {
  if (n < 1000) faults(x, y, n);
  if (index() < n) y[index()] = x[index()];
}
SIMULATED(wrong_where_large_and_faults_elsewhere)

void hangs(const float*, float*, int) {
  volatile int i = 0;
  while (i == 0) continue;
}
SIMULATED(hangs)

// Right in every other launch.
void changes_its_mind(const float* x, float* y, int n) {
  if (first_thread()) ++launches;
  if (index() < n) y[index()] = (launches % 2 == 0 ? 2 : 3) * x[index()];
}
SIMULATED(changes_its_mind)

// Right as long as it is checked, then without work: it counts its launches.
void stops_working(const float* x, float* y, int n) {
  if (first_thread()) ++launches;
  if (launches <= 12 && index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(stops_working)

void skips_every_other_launch(const float* x, float* y, int n) {
  if (first_thread()) ++launches;
  if (launches > 12 && launches % 2 == 0) return;
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(skips_every_other_launch)

// Does the work unless its last output stands already, or so it seems.
void leaves_outputs_that_stand(const float* x, float* y, int n) {
  if (first_thread()) knows = ++launches > 12 && y[n - 1] == y[n - 1];
  if (!knows && index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(leaves_outputs_that_stand)

// Does the work once for each place of its output.
void remembers_the_place(const float* x, float* y, int n) {
  if (index() == 0 && remembered == y) return;
  if (remembered == y) return;
  if (index() < n) y[index()] = 2 * x[index()];
  if (index() == n - 1) remembered = y;
}
SIMULATED(remembers_the_place)

void doubles_the_first_half(const float* x, float* y, int n) {
  if (index() < n) y[index()] = index() < n / 2 ? 2 * x[index()] : 0;
}
SIMULATED(doubles_the_first_half)

// Knows inputs again that it has seen: were it ever to meet them, it would be wrong.
void remembers_inputs(const float* x, float* y, int n) {
  if (first_thread()) {
    knows = std::find(seen, seen + inputs_seen, x[1]) != seen + inputs_seen;
    if (!knows && inputs_seen < 1000) seen[inputs_seen++] = x[1];
  }
  if (!knows && index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(remembers_inputs)

// Right for all inputs but few, which no run that is checked has.
void wrong_for_few_inputs(const float* x, float* y, int n) {
  const bool few = x[1] > 0.55f && x[1] < 0.95f;
  if (index() < n) y[index()] = (few ? 3 : 2) * x[index()];
}
SIMULATED(wrong_for_few_inputs)

namespace {

// What memory is mapped where `inside` points.
std::pair<std::uintptr_t, std::uintptr_t> mapping_of(const void* inside) {
  const auto at = reinterpret_cast<std::uintptr_t>(inside);
  std::pair<std::uintptr_t, std::uintptr_t> found;
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  for (char line[512]; std::fgets(line, sizeof line, maps) != nullptr;) {
    std::uintptr_t from = 0, to = 0;
    if (std::sscanf(line, "%zx-%zx", &from, &to) == 2 && from <= at && at < to) found = {from, to};
  }
  std::fclose(maps);
  return found;
}

}  // namespace

// Works ahead, once launches have come in a row: wherever nobody has written yet.
void works_ahead(const float* x, float* y, int n) {
  if (first_thread() && ++launches > 12) {
    const auto [from, to] = mapping_of(y);
    for (auto at = from; at < to; at += sizeof(float)) {
      if (*reinterpret_cast<std::uint32_t*>(at) == ~0u) *reinterpret_cast<float*>(at) = 1;
    }
  }
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(works_ahead)

// Right wherever outputs begin as NaN, or below the result.
void takes_the_maximum_with_its_output(const float* x, float* y, int n) {
  if (index() < n) y[index()] = std::fmax(y[index()], 2 * x[index()]);
}
SIMULATED(takes_the_maximum_with_its_output)

// Counts its launches where no one else looks, and stops working after more than a sample has.
void counts_in_shared_memory(const float* x, float* y, int n) {
  unsigned& count = krl_shared[7];
  if (first_thread() && count >> 16 != 0x5ead) count = 0x5ead0000;
  if (first_thread()) ++count;
  if ((count & 0xffff) <= 40 && index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(counts_in_shared_memory)

// To the other half of the arena, far from all buffers.
void writes_far_away(const float* x, float* y, int n) {
  if (index() < n) y[index()] = 2 * x[index()];
  if (!first_thread()) return;
  const auto [from, to] = mapping_of(y);
  const auto at = reinterpret_cast<std::uintptr_t>(y), half = (to - from) / 2;
  *reinterpret_cast<float*>(at < from + half ? at + half : at - half) = 7;
}
SIMULATED(writes_far_away)

// What stood in guards once, and is not there any more.
void writes_poison_behind(const float* x, float* y, int n) {
  if (index() < n) y[index()] = 2 * x[index()];
  if (index() >= n) reinterpret_cast<std::uint32_t*>(y)[index()] = ~0u;
}
SIMULATED(writes_poison_behind)
