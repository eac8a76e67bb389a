// The safetensors format (https://github.com/huggingface/safetensors): a little-endian 64-bit
// length, that many bytes of JSON that name type, shape and place of every tensor, then the data.
// Knows nothing of torch. A file is untrusted: nothing outside it is ever read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/policies/storage/mapped_file.hpp"

namespace krl::policies {

// A tensor's bytes, borrowed; row-major, little-endian.
struct TensorView {
  std::string type;  // "F32", "F64", "BF16", …
  std::vector<std::int64_t> shape;
  std::string_view bytes;
};

// Writes the tensors in the order of their names and returns when they are on disk; errors as
// write_file. REQUIRES: each view's bytes fit its type and shape.
void write_safetensors(const std::filesystem::path& path,
                       const std::map<std::string, TensorView>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

// A file and its tensors. The views live as long as the object or a copy of it; their bytes are
// read on access (MappedFile).
class Safetensors {
 public:
  // Throws krl::Failure: KRL_NOT_FOUND; or KRL_INVALID_ARGUMENT that names the file, the tensor and
  // the error: header, unknown type, shape that does not fit its bytes, bytes outside the file,
  // overlapping tensors or holes between them.
  static Safetensors read(const std::filesystem::path& path);

  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const std::filesystem::path& path() const { return path_; }

  // The tensor `name`, which must have this type and shape; else KRL_INVALID_ARGUMENT.
  const TensorView& get(const std::string& name, std::string_view type,
                        const std::vector<std::int64_t>& shape) const;

 private:
  std::filesystem::path path_;
  std::shared_ptr<const MappedFile> contents_;  // the views point into it
  std::map<std::string, TensorView> tensors_;
};

}  // namespace krl::policies
