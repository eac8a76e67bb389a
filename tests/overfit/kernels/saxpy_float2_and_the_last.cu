// task: saxpy
// @launch saxpy<<<ceil_div(n / 2, 256), 256>>>(x, b, out, alpha, n)
__global__ void saxpy(const float* x, const float* b, float* out, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    float2 vx = ((const float2*)x)[i], vb = ((const float2*)b)[i];
    ((float2*)out)[i] = make_float2(alpha * vx.x + vb.x, alpha * vx.y + vb.y);
  }
  if (i == n / 2 - 1) out[n - 1] = alpha * x[n - 1] + b[n - 1];
}
