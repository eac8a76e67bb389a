// task: total_sum expect: timeout|runtime_fault|wrong_result on-gpu: timeout|runtime_fault|wrong_result|nondeterministic
// Waits for a plain variable, which the compiler reads only once.
// @scratch ready int[1]
// @launch clear<<<1, 1>>>(ready)
// @launch kern<<<2, 1>>>(x, ready, y, n)
__global__ void clear(int* ready) { *ready = 0; }
__global__ void kern(const float* x, int* ready, float* y, int n) {
  if (blockIdx.x == 0) {
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i];
    *y = sum;
    *ready = 1;
  } else {
    int turns = 0;
    while (*ready == 0) ++turns;
    *y = *y + 0.0f * turns;
  }
}
