// emulate: --launch 'pass<<<200, 32>>>(flag)' --buffer flag=i32[201]:zeros --gpu 'Jetson Orin Nano'
// fault: deadlock 7
// Each block waits for the next one, which may not have begun: there are more blocks than fit.
__global__ void pass(volatile int* flag) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == gridDim.x - 1) flag[blockIdx.x + 1] = 1;
    while (flag[blockIdx.x + 1] == 0) {
    }
    flag[blockIdx.x] = 1;
  }
}
