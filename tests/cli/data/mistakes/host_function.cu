__global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
void add(const float* a, const float* b, float* out, int n) {
  vector_add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
