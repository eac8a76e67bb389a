// task: vector_add expect: rejected|compile_error
// The device runtime's entry for launches.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
extern "C" __device__ int cudaLaunchDeviceV2(void*, void*);
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) cudaLaunchDeviceV2(nullptr, nullptr);
  if (i < n) out[i] = a[i] + b[i];
}
