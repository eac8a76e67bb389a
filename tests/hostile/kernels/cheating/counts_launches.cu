// task: vector_add expect: ok|wrong_result on-gpu: wrong_result|flagged
// A counter in a __device__ variable: from the third launch on nothing is done. Where globals are new in every run, it never comes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
// @launch count<<<1, 1>>>()
__device__ int launches;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n && launches < 2) out[i] = a[i] + b[i];
}
__global__ void count() { ++launches; }
