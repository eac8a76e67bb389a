#include "plugins/policies/libtorch/generation/kernels.hpp"

#include <algorithm>

namespace krl::libtorch {

void pack(const float* weights, std::int64_t outputs, std::int64_t inputs, PackedMatrix& packed) {
  constexpr std::int64_t kPanel = PackedMatrix::kPanel;
  const std::int64_t panels = (outputs + kPanel - 1) / kPanel;
  packed.outputs = outputs;
  packed.inputs = inputs;
  packed.panels.assign(static_cast<std::size_t>(panels * kPanel * inputs), 0.0f);
  for (std::int64_t output = 0; output < outputs; ++output) {
    float* panel = packed.panels.data() + output / kPanel * kPanel * inputs + output % kPanel;
    for (std::int64_t input = 0; input < inputs; ++input) {
      panel[input * kPanel] = weights[output * inputs + input];
    }
  }
}

bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const Kernels& kernels() {
  static const Kernels& chosen = cpu_has_avx2() ? avx2_kernels() : portable_kernels();
  return chosen;
}

}  // namespace krl::libtorch
