// Tensors, all on the single GPU: views of memory provided by the harness for the duration of the
// call. There are no operations, because the candidate has to compute in its kernels.
#pragma once

#include <cuda_runtime_api.h>

#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "kernelrl/host_call.hpp"
#include "kernelrl/torch/check.hpp"
#include "kernelrl/torch/scalar_type.hpp"

namespace c10 {

using std::nullopt;
using std::nullopt_t;
template <class T>
using optional = std::optional<T>;

enum class DeviceType : std::int8_t { CPU, CUDA };
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;

struct Device {
  DeviceType kind = kCUDA;
  std::int8_t number = 0;

  Device() = default;
  Device(DeviceType type, std::int8_t index = 0) : kind(type), number(index) {}
  DeviceType type() const { return kind; }
  std::int8_t index() const { return number; }
  bool is_cuda() const { return kind == kCUDA; }
  bool is_cpu() const { return kind == kCPU; }
  bool has_index() const { return true; }
};
inline bool operator==(const Device& a, const Device& b) {
  return a.kind == b.kind && a.number == b.number;
}
inline bool operator!=(const Device& a, const Device& b) { return !(a == b); }
inline std::string text_of(const Device& device) {
  return device.is_cuda() ? "cuda:" + std::to_string(device.index()) : "cpu";
}
inline std::string text_of(ScalarType type) { return toString(type); }

// Borrowed numbers, as sizes are.
class IntArrayRef {
 public:
  IntArrayRef() = default;
  IntArrayRef(const std::int64_t* data, std::size_t size) : data_(data), size_(size) {}
  IntArrayRef(const std::int64_t& one) : data_(&one), size_(1) {}
  IntArrayRef(const std::vector<std::int64_t>& values)
      : data_(values.data()), size_(values.size()) {}
  IntArrayRef(const std::initializer_list<std::int64_t>& values)
      : data_(values.begin()), size_(values.size()) {}
  const std::int64_t* begin() const { return data_; }
  const std::int64_t* end() const { return data_ + size_; }
  const std::int64_t* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::int64_t operator[](std::size_t i) const { return data_[i]; }
  std::int64_t front() const { return data_[0]; }
  std::int64_t back() const { return data_[size_ - 1]; }
  std::vector<std::int64_t> vec() const { return {begin(), end()}; }
  bool equals(IntArrayRef other) const {
    if (size_ != other.size_) return false;
    for (std::size_t i = 0; i < size_; ++i) {
      if (data_[i] != other.data_[i]) return false;
    }
    return true;
  }

 private:
  const std::int64_t* data_ = nullptr;
  std::size_t size_ = 0;
};
inline bool operator==(IntArrayRef a, IntArrayRef b) { return a.equals(b); }
inline bool operator!=(IntArrayRef a, IntArrayRef b) { return !a.equals(b); }
inline std::string text_of(IntArrayRef sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  }
  return text + "]";
}

enum class MemoryFormat { Contiguous, Preserve };
enum class Layout { Strided };
inline constexpr Layout kStrided = Layout::Strided;

// The properties of a new tensor.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type) {}
  TensorOptions(DeviceType) {}
  TensorOptions(Device) {}
  TensorOptions dtype(ScalarType type) const { return TensorOptions(type); }
  template <class Where>
  TensorOptions device(Where where, int = 0) const {
    TORCH_CHECK(Device(where).is_cuda(), "not in kernelrl's torch shim: tensors of the CPU");
    return *this;
  }
  TensorOptions layout(Layout) const { return *this; }
  TensorOptions requires_grad(bool) const { return *this; }
  TensorOptions memory_format(MemoryFormat) const { return *this; }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  Device device() const { return {}; }

 private:
  ScalarType type_ = ScalarType::Float;
};

}  // namespace c10

namespace kernelrl_host {

// The call that is made; the host code of a candidate runs in one at a time.
inline const Call* current_call = nullptr;

// Memory that the harness lends until its last owner is gone. (<memory> takes long to compile.)
class LentMemory {
 public:
  LentMemory() = default;
  explicit LentMemory(std::int64_t bytes) {
    TORCH_CHECK(current_call != nullptr, "a tensor is made outside of a call");
    void* memory =
        current_call->allocate(current_call->harness, static_cast<unsigned long long>(bytes));
    TORCH_CHECK(memory != nullptr, "CUDA out of memory: ", bytes, " bytes");
    loan_ = new Loan{memory, current_call->harness, current_call->release, 1};
  }
  LentMemory(const LentMemory& other) : loan_(other.loan_) {
    if (loan_ != nullptr) ++loan_->owners;
  }
  LentMemory& operator=(LentMemory other) {
    std::swap(loan_, other.loan_);
    return *this;
  }
  ~LentMemory() {
    if (loan_ == nullptr || --loan_->owners > 0) return;
    loan_->release(loan_->harness, loan_->memory);
    delete loan_;
  }
  void* get() const { return loan_ == nullptr ? nullptr : loan_->memory; }

 private:
  struct Loan {
    void *memory, *harness;
    void (*release)(void* harness, void* memory);
    int owners;
  };
  Loan* loan_ = nullptr;
};

}  // namespace kernelrl_host

namespace at {

using namespace c10;

// Part of a tensor, in a kernel.
template <class T, std::size_t N>
class TensorAccessor {
 public:
  __host__ __device__ TensorAccessor(T* data, const std::int64_t* sizes,
                                     const std::int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ auto operator[](std::int64_t i) const {
    return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }
  __host__ __device__ std::int64_t size(int i) const { return sizes_[i]; }
  __host__ __device__ std::int64_t stride(int i) const { return strides_[i]; }
  __host__ __device__ T* data() const { return data_; }

 private:
  T* data_;
  const std::int64_t *sizes_, *strides_;
};
template <class T>
class TensorAccessor<T, 1> {
 public:
  __host__ __device__ TensorAccessor(T* data, const std::int64_t* sizes,
                                     const std::int64_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ T& operator[](std::int64_t i) const { return data_[i * strides_[0]]; }
  __host__ __device__ std::int64_t size(int i) const { return sizes_[i]; }
  __host__ __device__ std::int64_t stride(int i) const { return strides_[i]; }
  __host__ __device__ T* data() const { return data_; }

 private:
  T* data_;
  const std::int64_t *sizes_, *strides_;
};

// Replaces torch's qualifiers of pointers; here there are none.
template <class T>
struct DefaultPtrTraits {};
template <class T>
struct RestrictPtrTraits {};

// A tensor as a kernel's argument.
template <class T, std::size_t N, template <class> class = DefaultPtrTraits,
          class Index = std::int64_t>
class PackedTensorAccessor {
 public:
  PackedTensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides)
      : data_(data) {
    for (std::size_t i = 0; i < N; ++i) sizes_[i] = sizes[i], strides_[i] = strides[i];
  }
  __device__ decltype(auto) operator[](std::int64_t i) const {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
    }
  }
  __host__ __device__ Index size(int i) const { return static_cast<Index>(sizes_[i]); }
  __host__ __device__ Index stride(int i) const { return static_cast<Index>(strides_[i]); }
  __host__ __device__ T* data() const { return data_; }

 private:
  T* data_;
  std::int64_t sizes_[N], strides_[N];
};
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = PackedTensorAccessor<T, N, Traits, std::int32_t>;
template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = PackedTensorAccessor<T, N, Traits, std::int64_t>;

// The result of Tensor::type(), for old code.
struct TypeProperties {
  ScalarType type;
  bool is_cuda() const { return true; }
  ScalarType scalarType() const { return type; }
  operator ScalarType() const { return type; }
};

class Tensor {
 public:
  Tensor() = default;  // undefined
  // Memory of the harness's.
  explicit Tensor(const kernelrl_host::Tensor& tensor)
      : sizes_(tensor.shape, tensor.shape + tensor.axes),
        strides_(contiguous_strides(sizes_)),
        data_(static_cast<char*>(tensor.data)),
        type_(static_cast<ScalarType>(tensor.dtype)) {}
  Tensor(kernelrl_host::LentMemory storage, std::vector<std::int64_t> sizes, ScalarType type)
      : storage_(std::move(storage)),
        sizes_(std::move(sizes)),
        strides_(contiguous_strides(sizes_)),
        data_(static_cast<char*>(storage_.get())),
        type_(type) {}

  bool defined() const { return data_ != nullptr || !sizes_.empty(); }
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes_.size()); }
  std::int64_t ndimension() const { return dim(); }
  IntArrayRef sizes() const { return sizes_; }
  IntArrayRef strides() const { return strides_; }
  std::int64_t size(std::int64_t axis) const { return sizes_[place(axis)]; }
  std::int64_t stride(std::int64_t axis) const { return strides_[place(axis)]; }
  std::int64_t numel() const {
    std::int64_t n = 1;
    for (const std::int64_t size : sizes_) n *= size;
    return n;
  }
  std::int64_t element_size() const { return elementSize(type_); }
  std::int64_t itemsize() const { return elementSize(type_); }
  std::int64_t nbytes() const { return numel() * element_size(); }
  ScalarType scalar_type() const { return type_; }
  ScalarType dtype() const { return type_; }
  TypeProperties type() const { return {type_}; }
  TensorOptions options() const { return TensorOptions(type_); }
  Device device() const { return {}; }
  std::int64_t get_device() const { return 0; }
  Layout layout() const { return kStrided; }
  bool is_cuda() const { return true; }
  bool is_cpu() const { return false; }
  bool requires_grad() const { return false; }
  bool is_floating_point() const {
    return type_ <= ScalarType::BFloat16 || type_ == ScalarType::Double;
  }
  bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    return numel() <= 1 || strides_ == contiguous_strides(sizes_);
  }
  bool is_same(const Tensor& other) const { return data_ == other.data_; }
  bool is_non_overlapping_and_dense() const { return is_contiguous(); }

  template <class T>
  T* data_ptr() const {
    TORCH_CHECK(CppTypeToScalarType<std::remove_cv_t<T>>::value == type_, "expected scalar type ",
                CppTypeToScalarType<std::remove_cv_t<T>>::value, " but found ", type_);
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  const T* const_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <class T>
  T* data() const {
    return data_ptr<T>();
  }
  void* data_ptr() const { return data_; }
  const void* const_data_ptr() const { return data_; }
  void* mutable_data_ptr() const { return data_; }

  template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, Traits, std::int32_t> packed_accessor32() const {
    return accessor_as<T, N, PackedTensorAccessor<T, N, Traits, std::int32_t>>();
  }
  template <class T, std::size_t N, template <class> class Traits = DefaultPtrTraits>
  PackedTensorAccessor<T, N, Traits, std::int64_t> packed_accessor64() const {
    return accessor_as<T, N, PackedTensorAccessor<T, N, Traits, std::int64_t>>();
  }

  Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const {
    if (is_contiguous()) return *this;
    const kernelrl_host::Call* const call = kernelrl_host::current_call;
    kernelrl_host::StridedTensor from{
        data_, {}, {}, static_cast<int>(dim()), static_cast<int>(element_size())};
    TORCH_CHECK(dim() <= kernelrl_host::kMostAxes, "contiguous() of more than 8 axes");
    for (int i = 0; i < from.axes; ++i) from.shape[i] = sizes_[i], from.strides[i] = strides_[i];
    const Tensor copy(kernelrl_host::LentMemory(nbytes()), sizes_, type_);
    call->gather(call->harness, copy.data_, &from);
    return copy;
  }
  Tensor view(IntArrayRef sizes) const {
    TORCH_CHECK(is_contiguous(),
                "not in kernelrl's torch shim: view of a tensor that is not contiguous; use "
                "reshape");
    Tensor viewed = *this;
    viewed.sizes_ = without_minus_one(sizes);
    viewed.strides_ = contiguous_strides(viewed.sizes_);
    TORCH_CHECK(viewed.numel() == numel(), "shape '", sizes, "' is invalid for input of size ",
                numel());
    return viewed;
  }
  Tensor reshape(IntArrayRef sizes) const { return contiguous().view(sizes); }
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape_as(const Tensor& other) const { return reshape(other.sizes()); }
  Tensor flatten(std::int64_t first = 0, std::int64_t last = -1) const {
    const std::size_t begin = place(first), end = place(last) + 1;
    std::vector<std::int64_t> sizes(sizes_.begin(), sizes_.begin() + begin);
    std::int64_t joined = 1;
    for (std::size_t i = begin; i < end; ++i) joined *= sizes_[i];
    sizes.push_back(joined);
    sizes.insert(sizes.end(), sizes_.begin() + end, sizes_.end());
    return reshape(sizes);
  }
  Tensor unsqueeze(std::int64_t axis) const {
    Tensor grown = *this;
    const std::size_t at = static_cast<std::size_t>(axis < 0 ? axis + dim() + 1 : axis);
    grown.sizes_.insert(grown.sizes_.begin() + at, 1);
    grown.strides_.insert(grown.strides_.begin() + at,
                          at < strides_.size() ? strides_[at] * sizes_[at] : 1);
    return grown;
  }
  Tensor squeeze(std::int64_t axis) const {
    Tensor shrunk = *this;
    const std::size_t at = place(axis);
    if (sizes_[at] != 1) return shrunk;
    shrunk.sizes_.erase(shrunk.sizes_.begin() + at);
    shrunk.strides_.erase(shrunk.strides_.begin() + at);
    return shrunk;
  }
  Tensor select(std::int64_t axis, std::int64_t index) const {
    Tensor part = *this;
    const std::size_t at = place(axis);
    if (index < 0) index += sizes_[at];
    TORCH_CHECK(0 <= index && index < sizes_[at],
                "select(): index out of range of an axis of size ", sizes_[at]);
    part.data_ += index * strides_[at] * element_size();
    part.sizes_.erase(part.sizes_.begin() + at);
    part.strides_.erase(part.strides_.begin() + at);
    return part;
  }
  Tensor transpose(std::int64_t a, std::int64_t b) const {
    Tensor turned = *this;
    std::swap(turned.sizes_[place(a)], turned.sizes_[place(b)]);
    std::swap(turned.strides_[place(a)], turned.strides_[place(b)]);
    return turned;
  }
  Tensor t() const { return dim() < 2 ? *this : transpose(0, 1); }
  Tensor detach() const { return *this; }
  Tensor cuda() const { return *this; }
  Tensor to(Device device) const {
    TORCH_CHECK(device.is_cuda(), "not in kernelrl's torch shim: tensors of the CPU");
    return *this;
  }
  Tensor to(ScalarType type) const {
    TORCH_CHECK(type == type_, "not in kernelrl's torch shim: conversion of a ", type_,
                " tensor to ", type);
    return *this;
  }
  Tensor& zero_() {
    TORCH_CHECK(is_contiguous(), "not in kernelrl's torch shim: zero_() of a view");
    TORCH_CHECK(
        cudaMemsetAsync(data_, 0, static_cast<std::size_t>(nbytes()), nullptr) == cudaSuccess,
        "zero_() failed");
    return *this;
  }

 private:
  static std::vector<std::int64_t> contiguous_strides(const std::vector<std::int64_t>& sizes) {
    std::vector<std::int64_t> strides(sizes.size());
    std::int64_t step = 1;
    for (std::size_t i = sizes.size(); i-- > 0; step *= sizes[i]) strides[i] = step;
    return strides;
  }
  std::size_t place(std::int64_t axis) const {
    TORCH_CHECK(-dim() <= axis && axis < dim(),
                "Dimension out of range (expected to be in range of [", -dim(), ", ", dim() - 1,
                "], but got ", axis, ")");
    return static_cast<std::size_t>(axis < 0 ? axis + dim() : axis);
  }
  std::vector<std::int64_t> without_minus_one(IntArrayRef sizes) const {
    std::vector<std::int64_t> known = sizes.vec();
    std::int64_t product = 1;
    for (const std::int64_t size : known) product *= size < 0 ? 1 : size;
    for (std::int64_t& size : known) {
      if (size < 0) size = product == 0 ? 0 : numel() / product;
    }
    return known;
  }
  template <class T, std::size_t N, class Accessor>
  Accessor accessor_as() const {
    TORCH_CHECK(dim() == static_cast<std::int64_t>(N), "expected ", N, " dims but tensor has ",
                dim());
    return Accessor(data_ptr<T>(), sizes_.data(), strides_.data());
  }

  kernelrl_host::LentMemory storage_;  // null: the harness's
  std::vector<std::int64_t> sizes_, strides_;
  char* data_ = nullptr;
  ScalarType type_ = ScalarType::Float;
};

using TensorList = const std::vector<Tensor>&;

}  // namespace at
