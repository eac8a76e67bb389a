// task: vector_add expect: ok
// Loads and stores of 16 bits.
// @launch kern<<<ceil_div(n, 64), 128>>>(a, b, out, n)
__device__ float whole(const unsigned short* p) { return __uint_as_float(p[0] | (unsigned)p[1] << 16); }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = (blockIdx.x * 128 + threadIdx.x) / 2;
  if (i >= n) return;
  const float sum = whole((const unsigned short*)(a + i)) + whole((const unsigned short*)(b + i));
  ((unsigned short*)(out + i))[threadIdx.x % 2] = (unsigned short)(__float_as_uint(sum) >> (threadIdx.x % 2 * 16));
}
