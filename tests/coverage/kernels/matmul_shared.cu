// The sample's tile of 32 x 32, dimensions that are multiples of it.
template <int BLOCK> __global__ void matmul_shared(float* C, float* A, float* B, int wA, int wB) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int aBegin = wA * BLOCK * by, aEnd = aBegin + wA - 1, aStep = BLOCK, bBegin = BLOCK * bx, bStep = BLOCK * wB;
  float Csub = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BLOCK; ++k) Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  C[wB * BLOCK * by + BLOCK * bx + wB * ty + tx] = Csub;
}
template __global__ void matmul_shared<16>(float*, float*, float*, int, int);
template __global__ void matmul_shared<32>(float*, float*, float*, int, int);
