// task: vector_add expect: compile_error|rejected
// A __device__ variable whose constructor computes: work before the clock, which nvcc refuses.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
struct Table {
  float v[4096];
  __device__ Table() { for (int i = 0; i < 4096; ++i) v[i] = expf(0.001f * i); }
};
__device__ Table table;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + 0.0f * table.v[i % 4096];
}
