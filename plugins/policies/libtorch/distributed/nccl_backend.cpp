#include "plugins/policies/libtorch/distributed/nccl_backend.hpp"

#include <cstdlib>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "plugins/policies/libtorch/distributed/tensor_backend.hpp"

namespace krl::libtorch {
namespace {

// A rank may wait for as long as the others live.
constexpr std::chrono::hours kForever{24 * 365};

class NcclBackend final : public TensorBackend {
 public:
  c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                            int size) override {
    for (const char* quiet : {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_ENABLE_MONITORING",
                              "TORCH_NCCL_DUMP_ON_TIMEOUT", "TORCH_NCCL_PROPAGATE_ERROR"}) {
      ::setenv(quiet, "0", /*overwrite=*/0);
    }
    using Nccl = c10d::ProcessGroupNCCL;
    const auto options = Nccl::Options::create();
    options->timeout = kForever;
    return c10::make_intrusive<Nccl>(c10::make_intrusive<c10d::PrefixStore>("nccl", store), rank,
                                     size, options);
  }
};

}  // namespace

TensorBackend& nccl_backend() {
  static NcclBackend backend;
  return backend;
}

}  // namespace krl::libtorch
