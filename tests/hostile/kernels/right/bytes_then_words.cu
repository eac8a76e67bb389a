// task: vector_add expect: ok
// Scratch and shared memory are written byte by byte and read as words.
// @scratch sums float[n]
// @launch add<<<ceil_div(n, 128), 128>>>(a, b, sums, n)
// @launch copy<<<ceil_div(n, 128), 128>>>(sums, out, n)
__global__ void add(const float* a, const float* b, float* sums, int n) {
  __shared__ float kept[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float sum = i < n ? a[i] + b[i] : 0;
  for (int k = 0; k < 4; k++) ((volatile unsigned char*)&kept[threadIdx.x])[k] = __float_as_uint(sum) >> (8 * k);
  __syncthreads();
  const unsigned bits = __float_as_uint(kept[threadIdx.x]);
  for (int k = 0; k < 4 && i < n; k++) ((volatile unsigned char*)&sums[i])[k] = bits >> (8 * k);
}
__global__ void copy(const float* sums, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = sums[i];
}
