// task: histogram expect: runtime_fault
// An atomic at an odd address.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, n)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd((int*)((char*)&counts[keys[i]] + (i == 77)), 1);
}
