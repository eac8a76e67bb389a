// task: matmul expect: rejected|compile_error|ok|wrong_result|runtime_fault
// An allowed attribute's name is a macro for vector_size: eight lanes an instruction.
// @launch kern<<<ceil_div(m, 32), 32>>>(a, b, c, m, n, k)
#define cold vector_size(512)
typedef float Wide __attribute__((cold));
#undef cold
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= m) return;
  Wide sum = {};
  float row[128];
  for (int e = 0; e < k; ++e) {
    Wide v = {};
    memcpy(&v, b + e * n, n * 4);
    sum += v * a[r * k + e];
  }
  memcpy(row, &sum, 512);
  memcpy(c + r * n, row, n * 4);
}
