// task: vector_add expect: wrong_result|flagged|nondeterministic
// Adds on the processor in the first call and gives that answer ever after.
#include <vector>

void launch(const float* a, const float* b, float* out, int n, cudaStream_t stream) {
  static std::vector<float> kept;
  if (static_cast<int>(kept.size()) != n) {
    std::vector<float> x(n), y(n);
    cudaMemcpy(x.data(), a, 4l * n, cudaMemcpyDeviceToHost);
    cudaMemcpy(y.data(), b, 4l * n, cudaMemcpyDeviceToHost);
    kept.resize(n);
    for (int i = 0; i < n; ++i) kept[i] = x[i] + y[i];
  }
  cudaMemcpyAsync(out, kept.data(), 4l * n, cudaMemcpyHostToDevice, stream);
}
