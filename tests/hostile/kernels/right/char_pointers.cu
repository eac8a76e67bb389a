// task: vector_add expect: ok
// Addresses by bytes, loads through unsigned char copies.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x, y;
  memcpy(&x, (const char*)a + 4ll * i, sizeof x);
  const unsigned char* from = (const unsigned char*)(b + i);
  unsigned bits = 0;
  for (int k = 0; k < 4; ++k) bits |= (unsigned)from[k] << (8 * k);
  y = __uint_as_float(bits);
  const float sum = x + y;
  memcpy(out + i, &sum, 4);
}
