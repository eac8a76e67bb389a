// task: total_sum expect: runtime_fault
// An atomic on the element behind the output.
// @launch kern<<<1, 1>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  y[0] = sum;
  atomicAdd(y + 1, 1.0f);
}
