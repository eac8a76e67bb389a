// task: vector_add expect: runtime_fault|wrong_result|nondeterministic on-gpu: wrong_result|nondeterministic|ok
// Takes the output for the answer: it may still hold that of an earlier launch.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = out[i];
}
