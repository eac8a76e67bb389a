// Candidates for the task y = 2 x, good ones and others.
#include <stdlib.h>

#include "tests/unit/backends/gpu/simulated_kernel.hpp"

namespace {

int launches = 0;                   // as a candidate's __device__ variable would count them
const float* remembered = nullptr;  // where an answer was left
int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
bool first_thread() { return index() == 0; }

}  // namespace

void good(const float* x, float* y, int n) {
  if (index() < n) y[index()] = 2 * x[index()];
}
SIMULATED(good)

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

// Does the work once for each place of its output.
void remembers_the_place(const float* x, float* y, int n) {
  if (index() == 0 && remembered == y) return;
  if (remembered == y) return;
  if (index() < n) y[index()] = 2 * x[index()];
  if (index() == n - 1) remembered = y;
}
SIMULATED(remembers_the_place)
