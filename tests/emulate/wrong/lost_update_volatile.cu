// emulate: --launch 'count<<<16, 1>>>(hits)' --buffer hits=i32[1]:zeros
// warning: order_dependent
// volatile makes no update atomic.
__global__ void count(volatile int* hits) { hits[0] = hits[0] + 1; }
