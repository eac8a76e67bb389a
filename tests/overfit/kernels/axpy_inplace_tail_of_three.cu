// task: axpy_inplace
// @launch axpy<<<ceil_div(n / 4, 128), 128>>>(x, y, alpha, n)
__global__ void axpy(const float* x, float* y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 vx = ((const float4*)x)[i];
    float4 vy = ((float4*)y)[i];
    vy.x += alpha * vx.x;
    vy.y += alpha * vx.y;
    vy.z += alpha * vx.z;
    vy.w += alpha * vx.w;
    ((float4*)y)[i] = vy;
  }
  if (i < 3) y[n - 1 - i] += alpha * x[n - 1 - i];
}
