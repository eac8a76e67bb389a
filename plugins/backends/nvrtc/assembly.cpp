#include "plugins/backends/nvrtc/assembly.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/evaluator/compile/message_places.hpp"
#include "plugins/backends/nvrtc/compilation.hpp"
#include "plugins/backends/nvrtc/nvrtc_api.hpp"

namespace krl::nvrtc {
using namespace evaluator;
namespace {

constexpr int kPtx = 2;  // NVJITLINK_INPUT_PTX

// "-arch=sm_90" of NVRTC's "--gpu-architecture=sm_90".
std::string arch_option(const CompileRequest& request) {
  constexpr std::string_view kArch = "--gpu-architecture=";
  for (const std::string& option : request.options)
    if (option.starts_with(kArch)) return "-arch=" + option.substr(kArch.size());
  throw Unusable("no architecture to assemble for");
}

}  // namespace

Assembler::Assembler(const std::string& library) {
  handle_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw Unusable(::dlerror());
  load("nvJitLinkCreate", create_);
  load("nvJitLinkAddData", add_);
  load("nvJitLinkComplete", complete_);
  load("nvJitLinkGetLinkedCubinSize", cubin_size_);
  load("nvJitLinkGetLinkedCubin", cubin_);
  load("nvJitLinkGetErrorLogSize", error_size_);
  load("nvJitLinkGetErrorLog", error_);
  load("nvJitLinkGetInfoLogSize", report_size_);
  load("nvJitLinkGetInfoLog", report_);
}

Exit Assembler::assemble(const CompileRequest& request) const {
  const std::string arch = arch_option(request);
  const char* options[] = {arch.c_str(), "-Xptxas=-v"};
  const std::string ptx = in_ascii(request.source);
  Link link = nullptr;
  if (create_(&link, 2, options) != 0) throw Unusable("nvJitLink refuses " + arch);
  const bool added = add_(link, kPtx, ptx.c_str(), ptx.size() + 1, kSourceFile) == 0;
  std::size_t size = 0;
  if (!added || complete_(link) != 0 || cubin_size_(link, &size) != 0) {
    write(STDOUT_FILENO, with_lines_of_ptx(text_of(link, error_size_, error_), ptx));
    return kRefused;
  }
  compiled::CompiledModule module;
  module.cubin.resize(size);
  cubin_(link, module.cubin.data());
  compiled::SplitLog log = compiled::split_log(text_of(link, report_size_, report_));
  write(STDOUT_FILENO, log.messages);
  module.ptx = ptx;
  module.report = std::move(log.report);
  module.names = request.kernels;
  write(kCompiledModuleDescriptor, to_bytes(module));
  return kCompiled;
}

std::string Assembler::text_of(Link link, Status (*size)(Link, std::size_t*),
                               Status (*text)(Link, char*)) const {
  std::size_t bytes = 0;
  if (size(link, &bytes) != 0 || bytes <= 1) return {};
  std::string result(bytes, '\0');
  if (text(link, result.data()) != 0) return {};
  result.resize(std::strlen(result.c_str()));
  return result;
}

template <class Function>
void Assembler::load(const char* name, Function& function) {
  void* symbol = ::dlsym(handle_, name);
  if (symbol == nullptr) throw Unusable(std::string("this nvJitLink lacks ") + name);
  std::memcpy(&function, &symbol, sizeof symbol);
}

}  // namespace krl::nvrtc
