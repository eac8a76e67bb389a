#include "plugins/backends/cuda/worker/upload_buffer.hpp"

#include <algorithm>

namespace krl::gpu {

CUdeviceptr UploadBuffer::upload(const void* data, std::uint64_t bytes) {
  if (bytes > bytes_ || memory_.get() == 0) {
    memory_ = {};
    bytes_ = std::max<std::uint64_t>(bytes, 4096);
    memory_ = allocate(bytes_);
  }
  // The driver has its own copy of pageable memory before it returns; the GPU need not be done.
  if (bytes > 0) KRL_CUDA(cuMemcpyHtoDAsync, memory_.get(), data, bytes, nullptr);
  return memory_.get();
}

}  // namespace krl::gpu
