// NCCL, the backend of c10d between GPUs.
#pragma once

#include "distributed/tensor_backend.hpp"

namespace krl::libtorch {

// Its own watchdog is told to leave the process alone: when a rank is lost, the group says so
// (rank_liveness.hpp). Variables that the user has set (TORCH_NCCL_…, NCCL_…) stand.
class NcclBackend final : public TensorBackend {
 public:
  c10::intrusive_ptr<c10d::Backend> connect(const c10::intrusive_ptr<c10d::Store>& store, int rank,
                                            int size) override;
};

}  // namespace krl::libtorch
