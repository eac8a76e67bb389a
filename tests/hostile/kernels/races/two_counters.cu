// task: vector_add expect: nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|ok
// Two counters give a block the same number only if no other block counts in between.
// @scratch counters int[2]
// @launch clear<<<1, 2>>>(counters)
// @launch kern<<<ceil_div(n, 64), 64>>>(a, b, out, counters, n)
__global__ void clear(int* counters) { counters[threadIdx.x] = 0; }
__global__ void kern(const float* a, const float* b, float* out, int* counters, int n) {
  __shared__ int left, right;
  if (threadIdx.x == 0) {
    left = atomicAdd(&counters[0], 1);
    right = atomicAdd(&counters[1], 1);
  }
  __syncthreads();
  const int i = left * 64 + threadIdx.x, j = right * 64 + threadIdx.x;
  if (i < n && j < n) out[i] = a[i] + b[j];
}
