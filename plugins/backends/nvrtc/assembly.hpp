// One assembly of PTX with nvJitLink, in a dedicated process.
#pragma once

#include <string>

#include "plugins/backends/evaluator/compile/compile_request.hpp"

namespace krl::nvrtc {
using namespace evaluator;

class Assembler {
 public:
  // Opens the library, which is never closed. Throws Unusable.
  explicit Assembler(const std::string& library);

  // As compile() does, of a request whose source is PTX; its options are those of NVRTC, of which
  // the architecture counts.
  Exit assemble(const CompileRequest& request) const;

 private:
  using Link = struct NvJitLink*;
  using Status = int;

  template <class Function>
  void load(const char* name, Function& function);
  // The text that two functions of the library give.
  std::string text_of(Link link, Status (*size)(Link, std::size_t*),
                      Status (*text)(Link, char*)) const;

  void* handle_ = nullptr;
  Status (*create_)(Link*, std::uint32_t n_options, const char** options) = nullptr;
  Status (*add_)(Link, int kind, const void* data, std::size_t size, const char* name) = nullptr;
  Status (*complete_)(Link) = nullptr;
  Status (*cubin_size_)(Link, std::size_t*) = nullptr;
  Status (*cubin_)(Link, void*) = nullptr;
  Status (*error_size_)(Link, std::size_t*) = nullptr;
  Status (*error_)(Link, char*) = nullptr;
  Status (*report_size_)(Link, std::size_t*) = nullptr;
  Status (*report_)(Link, char*) = nullptr;
};

}  // namespace krl::nvrtc
