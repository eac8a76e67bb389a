// emulate: --launch 'deposit<<<8, 32>>>(mutex, balance)' --buffer mutex=i32[1]:zeros --buffer balance=i32[1]:zeros
// holds: balance = 8
// One thread of each block takes a lock; fences order the accesses to what it guards.
__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}
__global__ void deposit(int* mutex, int* balance) {
  if (threadIdx.x == 0) {
    lock(mutex);
    *balance = *balance + 1;
    unlock(mutex);
  }
}
