// task: dot expect: ok|rejected|compile_error|wrong_result
// It is wrong for inputs of 2^28 and more, which some evaluations draw.
// A fixed-point sum in __int128.
// @launch kern<<<1, 1>>>(p, q, out, len)
__global__ void kern(const float* p, const float* q, float* out, int len) {
  __int128 sum = 0;
  for (int i = 0; i < len; ++i) sum += (__int128)llrint((double)p[i] * q[i] * 1099511627776.0);
  *out = (float)((double)(long long)(sum >> 20) / 1048576.0);
}
