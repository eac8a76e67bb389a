// A candidate with host code inside a runner: the shared object, loaded into this process, memory
// for the tensors it creates, and its results. From its first call on nothing in this process can
// be trusted, which is why the process is replaced afterwards. Used by one thread; the context is
// current.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugins/backends/cuda/host/include/kernelrl/host_call.hpp"
#include "plugins/backends/cuda/worker/driver.hpp"
#include "plugins/backends/cuda/worker/protocol.hpp"
#include "plugins/backends/cuda/worker/upload_buffer.hpp"

namespace krl::gpu {

// The host code's own doing: it threw, it gave something else than its outputs, …
struct HostFailure : std::runtime_error {
  HostFailure(Trouble::Host whose, const std::string& why) : std::runtime_error(why), host(whose) {}
  Trouble::Host host;
};

// Memory for the tensors of a call, kept for the next one. Released memory can be reused at once,
// because all work is ordered by one stream; held memory is kept until `recycle`.
class TensorMemory {
 public:
  void* allocate(std::uint64_t bytes);
  void release(const void* memory);
  void hold(const void* inside);  // any address of a block
  // Makes free memory unreadable: no call must find the results of an earlier one.
  void recycle();
  void let_go();  // releases held memory as it is

 private:
  struct Block {
    DeviceMemory memory;
    std::uint64_t bytes = 0;
    bool free = false, held = false, used = true;  // used: since it was made unreadable
  };
  void offer(CUdeviceptr address, const Block& block);  // if it can be given out

  std::map<CUdeviceptr, Block> blocks_;
  // The blocks that can be given out, by size: searching all blocks would count as the call's time.
  std::multimap<std::uint64_t, CUdeviceptr> offered_;
  std::vector<CUdeviceptr> held_;
  std::uint64_t recycled_ = 0;  // blocks: the number of the next one's poison
};

class HostLibrary {
 public:
  // `find_changes`, `gather`: the trusted kernels of these names. An empty object: calls do
  // nothing. Throws HostFailure if it cannot be loaded.
  HostLibrary(const std::string& shared_object, CUfunction find_changes, CUfunction gather);
  HostLibrary(const HostLibrary&) = delete;

  // Calls it on the set of buffers at `set`. Throws HostFailure.
  void call(const HostArguments& arguments, CUdeviceptr set);
  // Brings the outputs of some calls to their places. Throws HostFailure if a stream or thread of
  // the candidate continued to work after all work enqueued before this.
  void finish();
  // Instead: forgets them, so that the next call may be given their memory.
  void drop_outputs();
  // After `finish`: the memory that they no longer need can be had again, and reads as nothing.
  void recycle() { memory_.recycle(); }

 private:
  // An output of a call, and the copy to make when its work has to be done: to its place, or from
  // it to where a later change of it will show.
  struct Copy {
    CUdeviceptr from, to;
    std::uint64_t bytes;
  };
  using Function = void (*)(const kernelrl_host::Call*);

  static void give(void* harness, int output, const kernelrl_host::Tensor* tensor);
  static void gather(void* harness, void* to, const kernelrl_host::StridedTensor* from);
  static void fail(void* harness, const char* text);
  void take(std::size_t output, const kernelrl_host::Tensor& tensor);
  void snapshot();

  Function function_ = nullptr;
  CUfunction find_changes_, gather_;
  TensorMemory memory_;
  std::string failure_;                       // failure of the current call
  const HostArguments* arguments_ = nullptr;  // arguments of the current call
  // Outputs of the calls since `finish`: each one's location and destination.
  std::vector<Copy> outputs_;
  DeviceMemory snapshot_;
  std::uint64_t snapshot_bytes_ = 0;
  UploadBuffer ranges_, changed_;
};

}  // namespace krl::gpu
