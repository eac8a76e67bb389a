// NCCL, the backend of c10d between GPUs.
#pragma once

namespace krl::libtorch {

class TensorBackend;  // tensor_backend.hpp

// Returns the backend, whose own watchdog leaves the process alone: when a rank is lost, the group
// reports it (rank_liveness.hpp). Variables set by the user (TORCH_NCCL_…, NCCL_…) are kept. Lives
// as long as the process.
TensorBackend& nccl_backend();

}  // namespace krl::libtorch
