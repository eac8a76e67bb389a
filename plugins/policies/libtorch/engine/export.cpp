// The one export of the engine's library (engine.hpp).
#include "engine/local_policy.hpp"

extern "C" __attribute__((visibility("default"))) krl::TrainablePolicy*
kernelrl_create_torch_engine(const krl::libtorch::EngineOptions& options) {
  return new krl::libtorch::LocalPolicy(options);
}
