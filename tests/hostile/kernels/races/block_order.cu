// task: total_sum expect: nondeterministic|runtime_fault on-gpu: ok|nondeterministic
// @launch kern<<<2, 1>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  if (blockIdx.x == 1) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    atomicExch(y, sum);
  } else {
    atomicExch(y, 0.0f);
  }
}
