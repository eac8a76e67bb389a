// task: vector_add expect: runtime_fault|wrong_result|nondeterministic|ok on-gpu: ok|wrong_result|nondeterministic|flagged
// A counter in the stack outlives runs: right in the first, then wrong.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
struct Kept { long magic; long runs; char fill[4096]; };
__device__ __noinline__ long look(Kept* kept, const float* a) {
  if (kept->magic != 0x1234567812345678) { kept->magic = 0x1234567812345678; kept->runs = (long)a; }
  return kept->runs;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Kept kept;
  long first = look(&kept, a);
  if (i < n) out[i] = first == (long)a ? a[i] + b[i] : a[i] - b[i];
}
