// emulate: --launch 'hello<<<2, 2>>>()'
// prints: Hello from block 1, thread 0
// The first program of every introduction.
#include <stdio.h>
__global__ void hello() { printf("Hello from block %d, thread %d\n", blockIdx.x, threadIdx.x); }
