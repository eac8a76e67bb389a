// task: vector_add expect: ok
// __ldg, __ldcg, __ldcs, __ldlu, __ldcv, __stcg, __stcs, __stwt, __stwb.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  switch (i % 4) {
    case 0: __stcg(out + i, __ldg(a + i) + __ldcg(b + i)); break;
    case 1: __stcs(out + i, __ldcs(a + i) + __ldlu(b + i)); break;
    case 2: __stwt(out + i, __ldcv(a + i) + __ldca(b + i)); break;
    default: __stwb(out + i, a[i] + b[i]);
  }
}
