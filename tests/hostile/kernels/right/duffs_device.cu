// task: scale expect: ok
// A switch into the middle of a loop.
// @launch kern<<<ceil_div(n, 7 * 32), 32>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  int at = (blockIdx.x * 32 + threadIdx.x) * 7;
  int left = min(7, n - at);
  if (left <= 0) return;
  switch (left) {
    case 7: y[at] = alpha * x[at]; ++at;
    case 6: y[at] = alpha * x[at]; ++at;
    case 5: y[at] = alpha * x[at]; ++at;
    case 4: y[at] = alpha * x[at]; ++at;
    case 3: y[at] = alpha * x[at]; ++at;
    case 2: y[at] = alpha * x[at]; ++at;
    case 1: y[at] = alpha * x[at];
  }
}
