// task: prefix_sum
// @launch scan<<<1, 32>>>(x, y, n)
__global__ void scan(const float* x, float* y, int n) {
  int size = n / 32 + 1;
  int first = threadIdx.x * size;
  int last = threadIdx.x == 31 ? n : first + size;
  float acc = 0.0f;
  for (int i = first; i < last; i++) acc += x[i];
  float before = acc;
  for (int d = 1; d < 32; d *= 2) {
    float v = __shfl_up_sync(0xffffffff, before, d);
    if (threadIdx.x >= d) before += v;
  }
  before -= acc;
  for (int i = first; i < last; i++) {
    before += x[i];
    y[i] = before;
  }
}
