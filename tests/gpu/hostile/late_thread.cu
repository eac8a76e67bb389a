// task: matmul expect: flagged|wrong_result|nondeterministic|runtime_fault
// Returns at once; a thread launches the work on a stream of its own a little later.
#include <unistd.h>

#include <thread>

__global__ void product(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int e = 0; e < k; ++e) sum += a[row * k + e] * b[e * n + col];
  c[row * n + col] = sum;
}

void launch(const float* a, const float* b, float* c, int m, int n, int k) {
  std::thread([=] {
    usleep(20);
    cudaStream_t own;
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    product<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, own>>>(a, b, c, m, n, k);
    cudaStreamSynchronize(own);
  }).detach();
}
