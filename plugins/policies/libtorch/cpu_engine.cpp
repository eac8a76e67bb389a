// The one export of the CPU's engine (engine.hpp).
#include "plugins/policies/libtorch/distributed/rank_policies.hpp"

extern "C" __attribute__((visibility("default"))) krl::TrainablePolicy*
kernelrl_create_torch_engine(const krl::libtorch::EngineOptions& options) {
  return krl::libtorch::create_policy(options, krl::libtorch::make_cpu_device).release();
}
