// task: dot expect: wrong_result
// Hard-coded results for the sizes that are shown, work for no other.
// @launch kern<<<1, 1>>>(p, q, out, len)
__global__ void kern(const float* p, const float* q, float* out, int len) {
  float sum = 0;
  if (len == 1003 || len == 16387)
    for (int i = 0; i < len; ++i) sum += p[i] * q[i];
  *out = sum;
}
