// The discrete cosine transform of 8 x 8 blocks with quantisation.
__constant__ short kQuant[64];
__device__ void dct8(float* v, int step) {
  const float a0 = v[0] + v[7 * step], a7 = v[0] - v[7 * step], a1 = v[step] + v[6 * step], a6 = v[step] - v[6 * step];
  const float a2 = v[2 * step] + v[5 * step], a5 = v[2 * step] - v[5 * step], a3 = v[3 * step] + v[4 * step], a4 = v[3 * step] - v[4 * step];
  const float b0 = a0 + a3, b1 = a1 + a2, b2 = a1 - a2, b3 = a0 - a3;
  v[0] = 0.35355339f * (b0 + b1);
  v[4 * step] = 0.35355339f * (b0 - b1);
  v[2 * step] = 0.46193977f * b3 + 0.19134172f * b2;
  v[6 * step] = 0.19134172f * b3 - 0.46193977f * b2;
  v[step] = 0.49039264f * a7 + 0.41573481f * a6 + 0.27778512f * a5 + 0.09754516f * a4;
  v[3 * step] = 0.41573481f * a7 - 0.09754516f * a6 - 0.49039264f * a5 - 0.27778512f * a4;
  v[5 * step] = 0.27778512f * a7 - 0.49039264f * a6 + 0.09754516f * a5 + 0.41573481f * a4;
  v[7 * step] = 0.09754516f * a7 - 0.27778512f * a6 + 0.41573481f * a5 - 0.49039264f * a4;
}
__global__ void dct_8x8(const unsigned char* image, short* out, int w) {
  __shared__ float b[8][9 * 4];
  const int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
  b[ty][tx] = (float)image[y * w + x] - 128.f;
  __syncthreads();
  if (ty < 4) dct8(&b[tx % 8][ty * 8], 1);
  __syncthreads();
  if (ty == 0) dct8(&b[0][tx], 36);
  __syncthreads();
  out[y * w + x] = (short)__float2int_rn(b[ty][tx] / kQuant[ty * 8 + tx % 8]);
}
