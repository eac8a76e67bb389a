// task: vector_add expect: timeout|runtime_fault|ok|wrong_result on-gpu: timeout|ok
// The first block spins until the last has run, in a grid that is larger than a GPU holds.
// @scratch flag int[1]
// @launch clear<<<1, 1>>>(flag)
// @launch kern<<<100000, 32>>>(a, b, out, flag, n)
__global__ void clear(int* flag) { *flag = 0; }
__global__ void kern(const float* a, const float* b, float* out, int* flag, int n) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (blockIdx.x == gridDim.x - 1) atomicExch(flag, 1);
  else while (atomicAdd(flag, 0) == 0) {}
}
