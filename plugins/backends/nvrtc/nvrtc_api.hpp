// The NVRTC functions in use; stable since CUDA 12. For the process that compiles: kernelrl itself
// never loads the library.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace krl::nvrtc {

using Program = struct NvrtcProgram*;
using Status = int;
constexpr Status kSuccess = 0;

// NVRTC itself does not work.
class Unusable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Never unloaded.
class Api {
 public:
  // Opens the library and, from its folder, its built-in functions: it looks for those by their
  // name alone, which the system finds only in a toolkit that is installed for it. Throws Unusable.
  explicit Api(const std::string& library);

  Status (*version)(int* major, int* minor) = nullptr;
  Status (*create)(Program*, const char* source, const char* name, int n_headers,
                   const char* const* headers, const char* const* header_names) = nullptr;
  Status (*add_name)(Program, const char* expression) = nullptr;
  Status (*compile)(Program, int n_options, const char* const* options) = nullptr;
  Status (*log_size)(Program, std::size_t*) = nullptr;
  Status (*log)(Program, char*) = nullptr;
  Status (*cubin_size)(Program, std::size_t*) = nullptr;
  Status (*cubin)(Program, char*) = nullptr;
  Status (*ptx_size)(Program, std::size_t*) = nullptr;
  Status (*ptx)(Program, char*) = nullptr;
  Status (*lowered_name)(Program, const char* expression, const char** mangled) = nullptr;
  const char* (*error_string)(Status) = nullptr;

  // Throws Unusable.
  void require(Status status, const char* what) const;

 private:
  template <class Function>
  void load(const char* name, Function& function);

  void* handle_ = nullptr;
};

}  // namespace krl::nvrtc
