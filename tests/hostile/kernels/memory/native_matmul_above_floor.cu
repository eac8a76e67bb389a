// task: matmul expect: rejected|runtime_fault|compile_error on-gpu: rejected|runtime_fault|compile_error|wrong_result
// As native_matmul, with just enough counted traffic to stay above the floor that flags.
// @launch kern<<<1, 256>>>(a, b, c, m, n, k)
typedef void F(const float*, const float*, float*, long, long, long);
__device__ const unsigned char code[] = {
65,87,65,86,65,85,65,84,85,83,72,131,236,24,72,137,116,36,16,72,137,76,36,8,72,133,201,15,142,162,0,0,0,73,137,215,78,141,52,141,0,0,0,0,77,137,194,49,
210,74,141,12,55,74,141,52,133,0,0,0,0,69,49,237,69,49,228,15,31,68,0,0,77,133,210,126,98,72,137,20,36,76,139,92,36,16,74,141,44,175,69,49,192,75,141,
28,167,15,31,128,0,0,0,0,76,137,218,72,137,232,102,15,239,201,77,133,201,126,33,102,15,31,132,0,0,0,0,0,243,15,16,0,243,15,89,2,72,131,192,4,72,1,242,
243,15,88,200,72,57,200,117,232,243,66,15,17,12,131,73,131,192,1,73,131,195,4,77,57,194,117,189,72,139,20,36,72,131,194,1,77,1,212,77,1,205,76,1,241,
72,57,84,36,8,117,133,72,131,196,24,91,93,65,92,65,93,65,94,65,95,195};
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  float s = 0;
  for (int i = threadIdx.x; i < m * k / 4; i += 256) s += ((const float4*)a)[i].x;
  for (int i = threadIdx.x; i < k * n / 4; i += 256) s += ((const float4*)b)[i].x;
  if (s == 12345.678f) c[0] = s;
  if (threadIdx.x == 0) ((F*)code)(a, b, c, m, n, k);
}
