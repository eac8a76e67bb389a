// emulate: --launch 'collatz<<<1, 64>>>(y)' --buffer y=i32[64] --timeout 2
// fault: timeout|work_limit 0|7
// Zero never reaches one.
__global__ void collatz(int* y) {
  unsigned n = threadIdx.x;
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++steps;
  }
  y[threadIdx.x] = steps;
}
