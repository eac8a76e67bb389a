// task: vector_add expect: rejected|runtime_fault|compile_error|ok
// A pointer to a member function whose words are made up: a call of any address.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
struct S { int x; };
union Any { void (S::*call)(); long words[2]; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Any any;
  any.words[0] = 0x401001;
  any.words[1] = 0;
  S s;
  if (i == 0) (s.*any.call)();
  if (i < n) out[i] = a[i] + b[i];
}
