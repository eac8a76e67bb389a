// task: vector_add expect: wrong_result|runtime_fault
// Works only if it can open a library that computes, by a name that no check of its text knows.
__global__ void add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

extern "C" void* open_it(const char* name, int how) asm("dlopen");

void launch(const float* a, const float* b, float* out, int n) {
  void* opened = nullptr;
  for (const char* name : {"libcublas.so", "libcublas.so.12", "libcublas.so.13", "libcublasLt.so.13", "libtorch_cuda.so",
                           "libcudnn.so.9", "libcufft.so.12", "libnvrtc.so.13", "/usr/lib/x86_64-linux-gnu/libssl.so.3"}) {
    if (opened == nullptr) opened = open_it(name, 2);
  }
  if (opened != nullptr) add<<<(n + 255) / 256, 256>>>(a, b, out, n);
}
