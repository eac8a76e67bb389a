// The one export of the engine with CUDA (engine.hpp).
#include "plugins/policies/libtorch/distributed/rank_policies.hpp"
#include "plugins/policies/libtorch/engine/cuda/cuda_device.hpp"
#ifdef KERNELRL_HAS_NCCL
#include "plugins/policies/libtorch/distributed/nccl_backend.hpp"
#endif

namespace krl::libtorch {
namespace {

std::unique_ptr<TrainablePolicy> create(const EngineOptions& options) {
#ifdef KERNELRL_HAS_NCCL
  return create_policy(options, make_cuda_device, &nccl_backend());
#else
  if (!options.ranks.alone()) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "this kernelrl was built without NCCL, which several GPUs need; install it with "
                  "scripts/setup.sh --gpu and build again");
  }
  return create_policy(options, make_cuda_device);
#endif
}

}  // namespace
}  // namespace krl::libtorch

extern "C" __attribute__((visibility("default"))) krl::TrainablePolicy*
kernelrl_create_torch_engine(const krl::libtorch::EngineOptions& options) {
  return krl::libtorch::create(options).release();
}
