// emulate: --launch 'append<<<1, 64>>>(a, b)' --buffer a=i32[32]:zeros --buffer b=i32[32]:zeros
// fault: illegal_address 4
// The program counts on the second array to lie right behind the first.
__global__ void append(int* a, int* b) { a[threadIdx.x] = b[0] + 1; }
