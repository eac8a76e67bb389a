// task: vector_add expect: ok
// Comments and texts beyond ASCII: Größe, π, 数 — “…”.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ const char note[] = "größe";
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;  // die Größe n
  if (i < n) out[i] = a[i] + b[i] + 0 * note[0];
}
