// Early exits, nested loops with labels, switches, recursion, function pointers that vanish.
__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__global__ void recursion(int* out) { out[threadIdx.x] = ackermann(2, threadIdx.x % 5); }
__global__ void collatz(const unsigned* x, int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long v = x[i];
  int k = 0;
  while (v > 1) {
    v = v & 1 ? 3 * v + 1 : v >> 1;
    if (++k > 1000) break;
  }
  steps[i] = k;
}
__global__ void machine(const unsigned char* program, const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16], top = 0;
  stack[0] = in[i];
  for (const unsigned char* p = program;; ++p) {
    switch (*p) {
      case 0: out[i] = stack[top]; return;
      case 1: stack[top + 1] = stack[top]; ++top; break;
      case 2: stack[top - 1] += stack[top]; --top; break;
      case 3: stack[top - 1] *= stack[top]; --top; break;
      case 4: stack[top] = -stack[top]; break;
      case 5: stack[++top] = *++p; break;
      case 6: if (stack[top--] > 0) p += (signed char)p[1]; else ++p; break;
      default: out[i] = -1; return;
    }
  }
}
__global__ void primes(unsigned* sieve, int limit) {
  for (int p = 2 + blockIdx.x * blockDim.x + threadIdx.x; p * p <= limit; p += gridDim.x * blockDim.x) {
    bool prime = true;
    for (int q = 2; q * q <= p; ++q)
      if (p % q == 0) {
        prime = false;
        break;
      }
    if (!prime) continue;
    for (int m = p * p; m <= limit; m += p) atomicOr(&sieve[m / 32], 1u << m % 32);
  }
}
