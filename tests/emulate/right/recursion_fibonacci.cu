// emulate: --launch 'fibonacci<<<1, 16>>>(y)' --buffer y=i32[16]
// holds: y = 0 1 1 2 3 5 8 13
// A recursive function of the device.
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void fibonacci(int* y) { y[threadIdx.x] = fib(threadIdx.x); }
