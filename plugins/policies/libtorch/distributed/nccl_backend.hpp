// NCCL, the backend of c10d between GPUs.
#pragma once

namespace krl::libtorch {

class TensorBackend;  // tensor_backend.hpp

// Its own watchdog is told to leave the process alone: when a rank is lost, the group says so
// (rank_liveness.hpp). Variables set by the user (TORCH_NCCL_…, NCCL_…) are kept. Lives as long
// as the process.
TensorBackend& nccl_backend();

}  // namespace krl::libtorch
