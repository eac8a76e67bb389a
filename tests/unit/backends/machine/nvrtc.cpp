#include "tests/unit/backends/machine/nvrtc.hpp"

#include <array>
#include <cstring>
#include <map>

#include "plugins/backends/nvrtc/nvrtc_api.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/nvrtc/prelude.hpp"

namespace krl::machine {
using namespace nvrtc;
namespace {

class Compiler {
 public:
  Compiler() : files_(find_nvrtc("", KERNELRL_PYTHON_DEPS)), nvrtc_(files_.library.string()) {}

  CompiledModule compile(const std::string& source, const std::vector<std::string>& kernels) const {
    nvrtc::Program program = program_of(source);
    for (const std::string& kernel : kernels) nvrtc_.add_name(program, kernel.c_str());
    const std::string headers = "--include-path=" + files_.headers.string();
    const std::string cccl = headers + "/cccl";  // <cuda/std/…>, <cub/…>
    const std::string prelude = std::string("--pre-include=") + nvrtc::kPreludeName;
    const std::array options = {"--gpu-architecture=compute_90a",
                                "--std=c++17",
                                "--generate-line-info",
                                "-w",
                                prelude.c_str(),
                                headers.c_str(),
                                cccl.c_str()};
    const nvrtc::Status status = nvrtc_.compile(program, options.size(), options.data());
    CompiledModule module{kernels, {}, {}, text(program, nvrtc_.log_size, nvrtc_.log)};
    if (status != nvrtc::kSuccess) return module;
    module.ptx = text(program, nvrtc_.ptx_size, nvrtc_.ptx);
    for (const std::string& kernel : kernels) {
      const char* name = "";
      nvrtc_.lowered_name(program, kernel.c_str(), &name);
      module.names.emplace_back(name);
    }
    return module;
  }

 private:
  nvrtc::Program program_of(const std::string& source) const {
    std::vector<const char*> names{nvrtc::kPreludeName}, contents{nvrtc::kPrelude};
    for (const char* name : nvrtc::kPreludeHeaders) {
      names.push_back(name);
      contents.push_back("");
    }
    for (const nvrtc::StandardHeader& header : nvrtc::kStandardHeaders) {
      names.push_back(header.name);
      contents.push_back(header.content);
    }
    nvrtc::Program program = nullptr;
    nvrtc_.require(nvrtc_.create(&program, source.c_str(), "kernel.cu",
                                 static_cast<int>(names.size()), contents.data(), names.data()),
                   "nvrtcCreateProgram");
    return program;
  }

  static std::string text(nvrtc::Program program,
                          nvrtc::Status (*size_of)(nvrtc::Program, std::size_t*),
                          nvrtc::Status (*content)(nvrtc::Program, char*)) {
    std::size_t size = 0;
    size_of(program, &size);
    std::string text(size, '\0');
    if (size > 0) content(program, text.data());
    text.resize(std::strlen(text.c_str()));
    return text;
  }

  NvrtcLibrary files_;
  nvrtc::Api nvrtc_;
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
