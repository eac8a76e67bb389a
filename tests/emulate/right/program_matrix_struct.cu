// emulate: --launch 'transpose<<<dim3(2, 2), dim3(16, 16)>>>(a, b, 20, 30)' --buffer a=f64[20,30]:arange --buffer b=f64[30,20]
// holds: b = 0 30 60 90
// A small class with host and device members, and a kernel that uses it.
#include <cassert>
#include <cstdio>
#include <memory>
template <typename T>
struct View {
  T* data;
  int rows, cols;
  __host__ __device__ T& operator()(int r, int c) const { return data[r * cols + c]; }
};
__global__ void transpose(double* a, double* b, int rows, int cols) {
  View<double> from{a, rows, cols}, to{b, cols, rows};
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < rows && c < cols) to(c, r) = from(r, c);
}
int main() {
  const int rows = 20, cols = 30;
  auto host = std::make_unique<double[]>(rows * cols);
  View<double> view{host.get(), rows, cols};
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) view(r, c) = r * cols + c;
  double *a, *b;
  cudaMalloc(&a, sizeof(double) * rows * cols);
  cudaMalloc(&b, sizeof(double) * rows * cols);
  cudaMemcpy(a, host.get(), sizeof(double) * rows * cols, cudaMemcpyHostToDevice);
  transpose<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(a, b, rows, cols);
  cudaMemcpy(host.get(), b, sizeof(double) * rows * cols, cudaMemcpyDeviceToHost);
  assert(host[1] == cols);
  std::puts("done");
}
