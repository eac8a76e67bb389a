#include "plugins/backends/nvrtc/nvrtc_api.hpp"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>

namespace krl::nvrtc {
namespace {

void open_builtins(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so.")) {
      ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
}

}  // namespace

Api::Api(const std::string& library) {
  open_builtins(std::filesystem::path(library).parent_path());
  handle_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw Unusable(::dlerror());
  load("nvrtcVersion", version);
  load("nvrtcCreateProgram", create);
  load("nvrtcAddNameExpression", add_name);
  load("nvrtcCompileProgram", compile);
  load("nvrtcGetProgramLogSize", log_size);
  load("nvrtcGetProgramLog", log);
  load("nvrtcGetCUBINSize", cubin_size);
  load("nvrtcGetCUBIN", cubin);
  load("nvrtcGetPTXSize", ptx_size);
  load("nvrtcGetPTX", ptx);
  load("nvrtcGetLoweredName", lowered_name);
  load("nvrtcGetErrorString", error_string);
}

void Api::require(Status status, const char* what) const {
  if (status != kSuccess) throw Unusable(std::string(what) + ": " + error_string(status));
}

template <class Function>
void Api::load(const char* name, Function& function) {
  void* symbol = ::dlsym(handle_, name);
  if (symbol == nullptr) throw Unusable(std::string("this NVRTC lacks ") + name);
  std::memcpy(&function, &symbol, sizeof symbol);
}

}  // namespace krl::nvrtc
