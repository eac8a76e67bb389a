#include "tests/unit/backends/machine/nvrtc.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <stdexcept>

#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"

namespace krl::machine {
namespace {

using Program = struct NvrtcProgram*;

class Compiler {
 public:
  Compiler() : files_(find_nvrtc("", KERNELRL_PYTHON_DEPS)) {
    open_builtins();
    handle_ = ::dlopen(files_.library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(::dlerror());
    load("nvrtcCreateProgram", create_);
    load("nvrtcDestroyProgram", destroy_);
    load("nvrtcAddNameExpression", add_name_);
    load("nvrtcCompileProgram", compile_);
    load("nvrtcGetProgramLogSize", log_size_);
    load("nvrtcGetProgramLog", log_);
    load("nvrtcGetPTXSize", ptx_size_);
    load("nvrtcGetPTX", ptx_);
    load("nvrtcGetLoweredName", lowered_name_);
  }

  CompiledModule compile(const std::string& source, const std::vector<std::string>& kernels) const {
    Program program = program_of(source);
    for (const std::string& kernel : kernels) add_name_(program, kernel.c_str());
    const std::string headers = "--include-path=" + files_.headers.string();
    const std::string cccl = headers + "/cccl";  // <cuda/std/…>, <cub/…>
    const std::string prelude = std::string("--pre-include=") + nvrtc::kPreludeName;
    const std::array options = {"--gpu-architecture=compute_90",
                                "--std=c++17",
                                "--generate-line-info",
                                "-w",
                                prelude.c_str(),
                                headers.c_str(),
                                cccl.c_str()};
    const int status = compile_(program, options.size(), options.data());
    CompiledModule module{kernels, {}, {}, text(program, log_size_, log_)};
    if (status == 0) {
      module.ptx = text(program, ptx_size_, ptx_);
      for (const std::string& kernel : kernels) {
        const char* name = "";
        lowered_name_(program, kernel.c_str(), &name);
        module.names.emplace_back(name);
      }
    }
    destroy_(&program);
    return module;
  }

 private:
  using Size = int (*)(Program, std::size_t*);
  using Content = int (*)(Program, char*);

  NvrtcLibrary files_;
  void* handle_ = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*,
                 const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*add_name_)(Program, const char*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  Size log_size_ = nullptr, ptx_size_ = nullptr;
  Content log_ = nullptr, ptx_ = nullptr;
  int (*lowered_name_)(Program, const char*, const char**) = nullptr;

  // NVRTC opens them by their name alone, which is enough once they are open.
  void open_builtins() const {
    for (const auto& file : std::filesystem::directory_iterator(files_.library.parent_path())) {
      if (file.path().filename().string().starts_with("libnvrtc-builtins.so.")) {
        ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
      }
    }
  }

  template <class Function>
  void load(const char* name, Function& function) {
    void* symbol = ::dlsym(handle_, name);
    if (symbol == nullptr) throw std::runtime_error(std::string("NVRTC lacks ") + name);
    std::memcpy(&function, &symbol, sizeof symbol);
  }

  Program program_of(const std::string& source) const {
    std::array<const char*, std::size(nvrtc::kPreludeHeaders) + 1> names{}, contents{};
    std::copy(std::begin(nvrtc::kPreludeHeaders), std::end(nvrtc::kPreludeHeaders), names.begin());
    names.back() = nvrtc::kPreludeName;
    contents.fill("");
    contents.back() = nvrtc::kPrelude;
    Program program = nullptr;
    create_(&program, source.c_str(), "kernel.cu", names.size(), contents.data(), names.data());
    return program;
  }

  static std::string text(Program program, Size size_of, Content content) {
    std::size_t size = 0;
    size_of(program, &size);
    std::string text(size, '\0');
    if (size > 0) content(program, text.data());
    text.resize(std::strlen(text.c_str()));
    return text;
  }
};

}  // namespace

const CompiledModule& compile(std::string_view source, const std::vector<std::string>& kernels) {
  static const Compiler compiler;
  static std::map<std::pair<std::string, std::vector<std::string>>, CompiledModule> compiled;
  const auto [found, added] = compiled.try_emplace({std::string(source), kernels});
  if (added) found->second = compiler.compile(found->first.first, kernels);
  return found->second;
}

}  // namespace krl::machine
