// task: vector_add expect: ok|wrong_result on-gpu: wrong_result|nondeterministic|flagged
// Works every other time.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
// @launch count<<<1, 1>>>()
__device__ int launches;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && launches % 2 == 0) out[i] = a[i] + b[i];
}
__global__ void count() { ++launches; }
