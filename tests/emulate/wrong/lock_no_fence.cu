// emulate: --launch 'deposit<<<4, 32>>>(mutex, balance)' --buffer mutex=i32[1]:zeros --buffer balance=i32[1]:zeros
// fault: data_race 8
// The lock is taken and released without fences.
__global__ void deposit(int* mutex, int* balance) {
  if (threadIdx.x == 0) {
    while (atomicCAS(mutex, 0, 1) != 0) {
    }
    *balance += 1;
    atomicExch(mutex, 0);
  }
}
