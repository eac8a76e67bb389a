// task: total_sum expect: ok max-speedup: 40
// Every element is added to one word by an atomic of its own.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<ceil_div(n, 256), 256>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void kern(const float* x, float* y, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);
}
