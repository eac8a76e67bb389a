// emulate: --launch 'matvec<<<8, 64, 64 * 4 + 40 * 4>>>(m, v, out, 40)' --buffer m=f32[8,40]:ones --buffer v=f32[40]:arange --buffer out=f32[8]
// holds: out = 780 780 780 780
// Two arrays share the dynamic memory of a block.
extern __shared__ unsigned char raw[];
__global__ void matvec(const float* m, const float* v, float* out, int n) {
  float* part = reinterpret_cast<float*>(raw);
  float* vec = part + blockDim.x;
  for (int i = threadIdx.x; i < n; i += blockDim.x) vec[i] = v[i];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += m[blockIdx.x * n + i] * vec[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x; ++i) sum += part[i];
    out[blockIdx.x] = sum;
  }
}
