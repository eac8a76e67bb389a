// emulate: --launch 'pick<<<1, 32>>>(index, y)' --buffer index=i32[32]:arange --buffer y=i32[32]
// fault: uninitialised_local 7
// Only the first half of a thread's array is set.
__global__ void pick(const int* index, int* y) {
  int table[64];
  for (int i = 0; i < 16; ++i) table[index[i]] = i * i;
  y[threadIdx.x] = table[index[threadIdx.x]] + 1;
}
