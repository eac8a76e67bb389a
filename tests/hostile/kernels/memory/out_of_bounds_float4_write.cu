// task: vector_mul expect: runtime_fault
// The tail is stored as a whole vector.
// @launch kern<<<ceil_div(len, 4 * 64), 64>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = 4 * (blockIdx.x * 64 + threadIdx.x);
  if (i >= len) return;
  float r[4] = {};
  for (int k = 0; k < 4 && i + k < len; ++k) r[k] = u[i + k] * v[i + k];
  *(float4*)(res + i) = make_float4(r[0], r[1], r[2], r[3]);
}
