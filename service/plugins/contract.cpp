#include "service/plugins/contract.hpp"

namespace krl::service {

const char* unless_deterministic(const Subject& subject) {
  return subject.declares(KRL_DETERMINISTIC) ? nullptr : "it does not declare KRL_DETERMINISTIC";
}
const char* unless_thread_safe(const Subject& subject) {
  return subject.declares(KRL_THREAD_SAFE) ? nullptr : "it does not declare KRL_THREAD_SAFE";
}

Task doubling_task() {
  return {"doubling", "Doubling", "out[i] = 2 * x[i]", 0, R"({
  "id": "doubling", "title": "Doubling", "prompt": "out[i] = 2 * x[i]", "axes": {"n": "var"},
  "reference": "def run(x):\n    return x + x\n",
  "naive": "// @launch kern<<<ceil_div(n, 128), 128>>>(x, out, n)\n__global__ void kern(const float* x, float* out, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = 2 * x[i];\n}\n",
  "cases": [{"n": 1003}], "holdout": [{"n": 513}],
  "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
  "output": [{"name": "out", "dtype": "float32", "shape": ["n"]}]
})"};
}

}  // namespace krl::service
