#error "unsupported on cpu: random numbers (curand_kernel.h)"
