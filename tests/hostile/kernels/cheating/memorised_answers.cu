// task: total_sum expect: wrong_result
// A table from the first element to the answer, as messages might have taught it.
// @launch kern<<<1, 1>>>(x, y, n)
__device__ const float kTable[4][2] = {{0.32f, -12.9f}, {1.52f, 3.01f}, {-0.27f, 44.1f}, {0.91f, -7.7f}};
__global__ void kern(const float* x, float* y, int n) {
  float answer = 0;
  for (int k = 0; k < 4; ++k)
    if (fabsf(kTable[k][0] - x[0]) < 0.01f) answer = kTable[k][1];
  *y = answer;
}
