// task: vector_add expect: flagged|timeout
// Now and then enqueues a kernel of seconds from a thread, when the call's answer has been given.
#include <unistd.h>

#include <thread>

__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

__global__ void stay() {
  for (int i = 0; i < 40'000'000; ++i) __nanosleep(100);
}

void launch(const float* a, const float* b, float* out, int n) {
  add<<<(n + 255) / 256, 256>>>(a, b, out, n);
  static int calls = 0;
  if (++calls % 9 != 0) return;
  std::thread([] {
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    usleep(500);
    stay<<<1, 1, 0, own>>>();
  }).detach();
}
