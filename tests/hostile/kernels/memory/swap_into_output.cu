// task: row_max expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// The maximum by compare-and-swap, on an output that was never set.
// @launch kern<<<ceil_div(m * n, 128), 128>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= m * n) return;
  int* const place = (int*)&dst[i / n];
  int seen = atomicCAS(place, 0, 0);
  while (!(__int_as_float(seen) >= src[i])) {
    const int before = atomicCAS(place, seen, __float_as_int(src[i]));
    if (before == seen) break;
    seen = before;
  }
}
