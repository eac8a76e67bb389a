#include "plugins/backends/cuda/worker/host_library.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <kernelrl/tensor_types.hpp>
#include <utility>

#include "plugins/backends/cuda/worker/device_session.hpp"
#include "plugins/backends/cuda/worker/device_types.hpp"
#include "plugins/files/descriptor.hpp"

namespace krl::gpu {
using namespace evaluator;
namespace {

constexpr std::uint64_t kGranule = 512;  // bytes; sizes of blocks are multiples of it
constexpr std::size_t kLongestFailure = 500;

std::uint64_t rounded(std::uint64_t bytes) {
  return std::max<std::uint64_t>((bytes + kGranule - 1) / kGranule, 1) * kGranule;
}

std::uint64_t bytes_of(const HostTensor& tensor) {
  auto bytes = static_cast<std::uint64_t>(size_of(static_cast<DType>(tensor.dtype)));
  for (const std::int64_t length : tensor.shape) bytes *= static_cast<std::uint64_t>(length);
  return bytes;
}

kernelrl_host::Tensor view_of(const HostTensor& tensor, CUdeviceptr set) {
  kernelrl_host::Tensor view{};
  view.data = reinterpret_cast<void*>(set + tensor.offset);
  view.dtype = tensor.dtype;
  view.axes = static_cast<int>(tensor.shape.size());
  if (view.axes > kernelrl_host::kMostAxes) {
    throw HostFailure(Trouble::kItsFailure, "tensors of more than 8 axes are not passed");
  }
  std::copy(tensor.shape.begin(), tensor.shape.end(), view.shape);
  return view;
}

std::string described(int dtype, const long long* shape, int axes) {
  const bool known = dtype >= 0 && dtype < static_cast<int>(kDTypes.size());
  std::string text(known ? name_of(static_cast<DType>(dtype)) : "of an unknown type");
  text += " [";
  for (int i = 0; i < axes; ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

// Each copy of the shared object has a separate file that stays open: the loader takes a known name
// for the object that it has loaded.
void* load(const std::string& shared_object) {
  const int file = ::memfd_create("krl-candidate", MFD_CLOEXEC);
  if (file < 0 || !files::write_all(file, shared_object)) {
    throw HostFailure(Trouble::kItsFailure, "cannot load its shared object: out of memory");
  }
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object != nullptr) return object;
  std::string why = ::dlerror();
  const std::size_t at = why.find(path);
  if (at != std::string::npos) why.replace(at, path.size(), "its shared object");
  throw HostFailure(Trouble::kItsFailure, why);
}

}  // namespace

void* TensorMemory::allocate(std::uint64_t bytes) {
  const std::uint64_t wanted = rounded(bytes);
  CUdeviceptr address = 0;
  const auto best = offered_.lower_bound(wanted);
  if (best != offered_.end() && best->first <= 2 * wanted) {
    address = best->second;
    offered_.erase(best);
  } else {
    if (driver().cuMemAlloc(&address, wanted) != CUDA_SUCCESS) return nullptr;
    blocks_.emplace(address, Block{DeviceMemory(address), wanted});
  }
  Block& block = blocks_.at(address);
  block.free = false;
  block.used = true;
  return reinterpret_cast<void*>(address);
}

void TensorMemory::offer(CUdeviceptr address, const Block& block) {
  if (block.free && !block.held) offered_.emplace(block.bytes, address);
}

void TensorMemory::release(const void* memory) {
  const auto block = blocks_.find(reinterpret_cast<CUdeviceptr>(memory));
  if (block == blocks_.end() || block->second.free) return;
  block->second.free = true;
  offer(block->first, block->second);
}

void TensorMemory::hold(const void* inside) {
  const auto address = reinterpret_cast<CUdeviceptr>(inside);
  auto block = blocks_.upper_bound(address);
  if (block == blocks_.begin()) return;
  --block;
  if (address >= block->first + block->second.bytes || block->second.held) return;
  block->second.held = true;
  std::erase_if(offered_, [&](const auto& offered) { return offered.second == block->first; });
  held_.push_back(block->first);
}

void TensorMemory::let_go() {
  for (const CUdeviceptr address : std::exchange(held_, {})) {
    Block& block = blocks_.at(address);
    block.held = false;
    offer(address, block);
  }
}

void TensorMemory::recycle() {
  let_go();
  for (auto& [address, block] : blocks_) {
    if (!block.free || !block.used) continue;
    poison(address, block.bytes, recycled_++);
    block.used = false;
  }
  KRL_CUDA(cuCtxSynchronize);  // the next call may work on streams that do not wait for this one
}

HostLibrary::HostLibrary(const std::string& shared_object, CUfunction find_changes,
                         CUfunction gather)
    : find_changes_(find_changes), gather_(gather) {
  if (shared_object.empty()) {
    function_ = [](const kernelrl_host::Call*) {};
    return;
  }
  void* const symbol = ::dlsym(load(shared_object), "kernelrl_host_call");
  if (symbol == nullptr)
    throw HostFailure(Trouble::kItsFailure, "its launcher function is missing");
  function_ = reinterpret_cast<Function>(symbol);
}

void HostLibrary::give(void* harness, int output, const kernelrl_host::Tensor* tensor) {
  static_cast<HostLibrary*>(harness)->take(static_cast<std::size_t>(output), *tensor);
}

void HostLibrary::gather(void* harness, void* to, const kernelrl_host::StridedTensor* from) {
  DeviceStrides strides{{}, {}, from->axes, from->element_bytes};
  std::uint64_t elements = 1;
  for (int i = 0; i < from->axes; ++i) {
    strides.shape[i] = static_cast<std::uint64_t>(from->shape[i]);
    strides.strides[i] = from->strides[i];
    elements *= strides.shape[i];
  }
  const void* data = from->data;
  void* arguments[] = {&to, &data, &strides, &elements};
  try {
    launch_trusted(static_cast<HostLibrary*>(harness)->gather_, 1, elements, arguments);
  } catch (const CudaError& error) {
    fail(harness, error.what());
  }
}

void HostLibrary::fail(void* harness, const char* text) {
  std::string& failure = static_cast<HostLibrary*>(harness)->failure_;
  if (failure.empty()) failure = std::string(text).substr(0, kLongestFailure);
  if (failure.empty()) failure = "it failed";
}

void HostLibrary::take(std::size_t output, const kernelrl_host::Tensor& tensor) {
  if (output >= arguments_->outputs.size()) {
    return fail(this, "it returned more tensors than the task has outputs");
  }
  const HostTensor& wanted =
      arguments_->tensors[static_cast<std::size_t>(arguments_->outputs[output])];
  const std::vector<long long> shape(wanted.shape.begin(), wanted.shape.end());
  const int axes = static_cast<int>(shape.size());
  if (tensor.dtype != wanted.dtype || tensor.axes != axes ||
      !std::equal(shape.begin(), shape.end(), tensor.shape)) {
    const std::string why = "output " + std::to_string(output + 1) + " is " +
                            described(tensor.dtype, tensor.shape,
                                      std::clamp(tensor.axes, 0, kernelrl_host::kMostAxes)) +
                            ", not " + described(wanted.dtype, shape.data(), axes);
    return fail(this, why.c_str());
  }
  memory_.hold(tensor.data);
  Copy& place = outputs_[outputs_.size() - arguments_->outputs.size() + output];
  place.from = reinterpret_cast<CUdeviceptr>(tensor.data);
}

void HostLibrary::call(const HostArguments& arguments, CUdeviceptr set) {
  std::vector<kernelrl_host::Tensor> tensors;
  std::vector<kernelrl_host::Scalar> scalars;
  for (const HostTensor& tensor : arguments.tensors) tensors.push_back(view_of(tensor, set));
  for (const HostScalar& scalar : arguments.scalars) {
    scalars.push_back({scalar.dtype, scalar.real, scalar.integer});
  }
  const std::vector<long long> axes(arguments.axes.begin(), arguments.axes.end());
  for (const int output : arguments.outputs) {
    const HostTensor& tensor = arguments.tensors[static_cast<std::size_t>(output)];
    const CUdeviceptr place = set + tensor.offset;
    outputs_.push_back({place, place, bytes_of(tensor)});
  }
  kernelrl_host::Call call{};
  call.tensors = tensors.data();
  call.n_tensors = static_cast<int>(tensors.size());
  call.n_inputs = arguments.inputs;
  call.outputs = arguments.outputs.data();
  call.n_outputs = static_cast<int>(arguments.outputs.size());
  call.scalars = scalars.data();
  call.n_scalars = static_cast<int>(scalars.size());
  call.axes = axes.data();
  call.n_axes = static_cast<int>(axes.size());
  call.harness = this;
  call.allocate = [](void* self, unsigned long long bytes) {
    return static_cast<HostLibrary*>(self)->memory_.allocate(bytes);
  };
  call.release = [](void* self, void* memory) {
    static_cast<HostLibrary*>(self)->memory_.release(memory);
  };
  call.give = give;
  call.gather = gather;
  call.fail = fail;
  arguments_ = &arguments;
  failure_.clear();
  function_(&call);
  if (!failure_.empty()) throw HostFailure(Trouble::kItsFailure, failure_);
}

// Copies the outputs that are in their places already, so that later changes show.
void HostLibrary::snapshot() {
  std::uint64_t bytes = 0;
  for (const Copy& output : outputs_) bytes += output.from == output.to ? output.bytes : 0;
  if (bytes > snapshot_bytes_) {
    snapshot_ = {};
    snapshot_ = allocate(bytes);
    snapshot_bytes_ = bytes;
  }
  CUdeviceptr end = snapshot_.get();
  for (Copy& output : outputs_) {
    if (output.from != output.to) continue;
    output.to = end;
    end += output.bytes;
  }
}

void HostLibrary::drop_outputs() {
  outputs_.clear();
  memory_.let_go();
}

void HostLibrary::finish() {
  snapshot();
  std::vector<DeviceRange> ranges;
  std::uint64_t longest = 0;
  for (const Copy& output : outputs_) {
    KRL_CUDA(cuMemcpyDtoDAsync, output.to, output.from, output.bytes, nullptr);
    ranges.push_back({output.from, output.bytes, output.to});
    longest = std::max(longest, output.bytes);
  }
  outputs_.clear();
  KRL_CUDA(cuCtxSynchronize);
  std::vector<std::uint64_t> changes(ranges.size());
  CUdeviceptr base = 0, all = ranges_.upload(ranges), changed = changed_.upload(changes);
  std::uint64_t no_guards = 0;
  void* arguments[] = {&base, &all, &changed, &no_guards, &no_guards};
  launch_trusted(find_changes_, ranges.size(), longest / sizeof(std::uint64_t), arguments);
  KRL_CUDA(cuMemcpyDtoH, changes.data(), changed, changes.size() * sizeof changes[0]);
  if (std::all_of(changes.begin(), changes.end(), [](std::uint64_t n) { return n == 0; })) return;
  throw HostFailure(Trouble::kItsWorkLeft,
                    "its outputs were still written after its work was done");
}

}  // namespace krl::gpu
