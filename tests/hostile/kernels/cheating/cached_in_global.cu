// task: vector_add expect: ok|wrong_result|runtime_fault
// Does the work in the first launch of a process and hands the same sums out again later. A harness that gives every run fresh
// globals makes it work each time, so that it earns nothing; one that keeps them catches it with other inputs.
// @launch add_or_replay<<<ceil_div(n, 128), 128>>>(a, b, out, n)
// @launch remember<<<1, 1>>>()
__device__ float kept[65536];
__device__ int filled;
__global__ void add_or_replay(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (!filled) kept[i] = a[i] + b[i];
  out[i] = kept[i];
}
__global__ void remember() { filled = 1; }
