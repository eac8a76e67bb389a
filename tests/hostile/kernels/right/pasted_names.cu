// task: vector_add expect: ok
// Functions whose names a macro puts together.
// @launch add_rows<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define DEFINE(name, op) __device__ float name##_values(float x, float y) { return x op y; }
DEFINE(add, +)
DEFINE(subtract, -)
__global__ void add_rows(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = subtract_values(add_values(a[i], b[i]), 0.0f);
}
