// task: row_sum expect: flagged|wrong_result|nondeterministic|runtime_fault
// A call only notes what it was asked for; a thread does the work of all calls some milliseconds later.
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

__global__ void sums(const float* x, float* y, int cols) {
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[(long)blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

struct Noted {
  const float* x;
  float* y;
  int rows, cols;
};
std::mutex lock;
std::vector<Noted> noted;
std::chrono::steady_clock::time_point last;

void work() {
  cudaStream_t own;
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  for (;;) {
    usleep(200);
    const std::lock_guard<std::mutex> hold(lock);
    if (std::chrono::steady_clock::now() - last < std::chrono::milliseconds(4)) continue;
    for (const Noted& n : noted) sums<<<n.rows, 32, 0, own>>>(n.x, n.y, n.cols);
    noted.clear();
    cudaStreamSynchronize(own);
  }
}

void launch(const float* x, float* y, int rows, int cols) {
  static int calls = 0;
  if (++calls < 40) return sums<<<rows, 32>>>(x, y, cols);
  static const bool begun = (std::thread(work).detach(), true);
  (void)begun;
  const std::lock_guard<std::mutex> hold(lock);
  noted.push_back({x, y, rows, cols});
  last = std::chrono::steady_clock::now();
}
