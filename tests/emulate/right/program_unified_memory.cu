// emulate: --launch 'add<<<2, 128>>>(300, x, y)' --buffer x=f32[300]:ones --buffer y=f32[300]:arange
// holds: y = 1 2 3 4
// Host code in modern C++ with streams, vectors and a macro that checks errors.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>
#define CHECK(call)                                                              \
  do {                                                                           \
    cudaError_t error = (call);                                                  \
    if (error != cudaSuccess) {                                                  \
      std::cerr << __FILE__ << ":" << __LINE__ << cudaGetErrorString(error);     \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)
__global__ void add(int n, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] += x[i];
}
int main() {
  const int n = 1 << 16;
  float *x, *y;
  CHECK(cudaMallocManaged(&x, n * sizeof(float)));
  CHECK(cudaMallocManaged(&y, n * sizeof(float)));
  std::fill(x, x + n, 1.0f);
  std::fill(y, y + n, 2.0f);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  add<<<256, 256, 0, stream>>>(n, x, y);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamSynchronize(stream));
  std::vector<float> copy(y, y + n);
  std::cout << *std::max_element(copy.begin(), copy.end()) << std::endl;
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}
