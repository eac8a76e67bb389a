// task: leaky_relu
// @launch leaky<<<ceil_div(n, 512), 128>>>(p, q, slope, n)
__global__ void leaky(const float* p, float* q, float slope, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {
    for (int t = 0; t < 4; t++) q[i + t] = fmaxf(p[i + t], slope * p[i + t]);
  } else if (i + 2 < n) {
    for (int t = 0; t < 3; t++) q[i + t] = fmaxf(p[i + t], slope * p[i + t]);
  }
}
