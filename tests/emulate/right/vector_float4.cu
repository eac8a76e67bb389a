// emulate: --launch 'scale4<<<1, 64>>>(x, y, 64)' --buffer x=f32[256]:arange --buffer y=f32[256]
// holds: y = 0 3 6 9 12 15 18 21
// Every thread moves sixteen bytes at once; the pointers come from cudaMalloc and are aligned.
__global__ void scale4(const float* x, float* y, int quads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quads) return;
  float4 v = reinterpret_cast<const float4*>(x)[i];
  v.x *= 3.0f;
  v.y *= 3.0f;
  v.z *= 3.0f;
  v.w *= 3.0f;
  reinterpret_cast<float4*>(y)[i] = v;
}
