// task: dot expect: ok
// Compensated summation, which an optimiser must not simplify.
// @launch kern<<<1, 256>>>(p, q, out, len)
__global__ void kern(const float* p, const float* q, float* out, int len) {
  __shared__ float sums[256];
  float sum = 0, lost = 0;
  for (int i = threadIdx.x; i < len; i += 256) {
    const float term = __fsub_rn(__fmul_rn(p[i], q[i]), lost), next = __fadd_rn(sum, term);
    lost = __fsub_rn(__fsub_rn(next, sum), term);
    sum = next;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    double total = 0;
    for (int t = 0; t < 256; ++t) total += sums[t];
    out[0] = (float)total;
  }
}
