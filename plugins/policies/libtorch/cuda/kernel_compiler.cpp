#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"

#include <dlfcn.h>
#include <nvrtc.h>

#include <kernelrl/values.hpp>
#include <type_traits>

#include "plugins/files/digest.hpp"

namespace krl::libtorch {
namespace {

// NVRTC, opened when it is first needed.
struct Nvrtc {
  decltype(&nvrtcVersion) version;
  decltype(&nvrtcCreateProgram) create;
  decltype(&nvrtcCompileProgram) compile;
  decltype(&nvrtcGetProgramLogSize) log_size;
  decltype(&nvrtcGetProgramLog) log;
  decltype(&nvrtcGetCUBINSize) cubin_size;
  decltype(&nvrtcGetCUBIN) cubin;
  decltype(&nvrtcDestroyProgram) destroy;

  static const Nvrtc& get() {
    static const Nvrtc loaded;
    return loaded;
  }

 private:
  Nvrtc() {
    constexpr const char* kFile = "libnvrtc.so.13";
    void* library = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      throw Failure(KRL_FAILED_PRECONDITION,
                    "the local policy compiles its kernels by NVRTC, which cannot be opened: " +
                        std::string(::dlerror()) + "; install it with scripts/setup.sh");
    }
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(library, name));
      if (function != nullptr) return;
      throw Failure(KRL_FAILED_PRECONDITION, std::string(kFile) + " has no " + name);
    };
    find(version, "nvrtcVersion");
    find(create, "nvrtcCreateProgram");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(cubin_size, "nvrtcGetCUBINSize");
    find(cubin, "nvrtcGetCUBIN");
    find(destroy, "nvrtcDestroyProgram");
  }
};

std::vector<std::string> options_of(const std::vector<Define>& defines,
                                    const std::string& architecture) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "-default-device",
                                      "--std=c++17"};
  for (const Define& define : defines) {
    options.push_back("-D" + define.name + "=" + std::to_string(define.value));
  }
  return options;
}

}  // namespace

std::string compile_kernels(std::string_view name, std::string_view source,
                            const std::vector<Define>& defines, const std::string& architecture) {
  const Nvrtc& nvrtc = Nvrtc::get();
  const std::string text(source), file = std::string(name) + ".cu";
  nvrtcProgram program = nullptr;
  if (nvrtc.create(&program, text.c_str(), file.c_str(), 0, nullptr, nullptr) != NVRTC_SUCCESS) {
    throw Failure(KRL_INTERNAL, "NVRTC cannot take the source " + file);
  }
  const auto options = options_of(defines, architecture);
  std::vector<const char*> pointers;
  for (const std::string& option : options) pointers.push_back(option.c_str());
  const bool compiled =
      nvrtc.compile(program, static_cast<int>(pointers.size()), pointers.data()) == NVRTC_SUCCESS;
  std::size_t size = 0;
  compiled ? nvrtc.cubin_size(program, &size) : nvrtc.log_size(program, &size);
  std::string result(size, '\0');
  compiled ? nvrtc.cubin(program, result.data()) : nvrtc.log(program, result.data());
  nvrtc.destroy(&program);
  if (compiled) return result;
  throw Failure(KRL_INTERNAL, file + " does not compile for " + architecture + ":\n" + result);
}

std::string cubin_name(std::string_view source, const std::vector<Define>& defines,
                       const std::string& architecture) {
  int major = 0, minor = 0;
  Nvrtc::get().version(&major, &minor);
  std::string text = std::to_string(major) + "." + std::to_string(minor);
  for (const std::string& option : options_of(defines, architecture)) text += '\n' + option;
  text += '\n';
  text += source;
  return files::sha256_hex(text);
}

}  // namespace krl::libtorch
