#include "plugins/policies/libtorch/engine_loader.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace krl::libtorch {
namespace {

std::filesystem::path engine_folder() {
  if (const char* given = std::getenv("KERNELRL_TORCH_ENGINES")) return given;
  static const char here = 0;  // an address inside this plugin
  Dl_info info{};
  if (::dladdr(&here, &info) == 0 || info.dli_fname == nullptr) {
    throw Failure(KRL_INTERNAL, "the plugin 'libtorch' cannot find its own file");
  }
  const auto plugins = std::filesystem::absolute(info.dli_fname).parent_path();
  return plugins.parent_path() / "engines";
}

[[noreturn]] void refuse(const std::filesystem::path& path, const char* why, bool cuda) {
  throw Failure(KRL_FAILED_PRECONDITION,
                "cannot open the engine of the policy 'libtorch', " + path.string() + ": " +
                    (why != nullptr ? why : "unknown error") + "; install libtorch with " +
                    (cuda ? "scripts/setup.sh --gpu" : "scripts/setup.sh") + " and build again");
}

}  // namespace

CreateEngine load_engine(const std::string& device) {
  const bool cuda = device == "cuda";
  const std::filesystem::path path = engine_folder() / (cuda ? kCudaEngineFile : kCpuEngineFile);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) refuse(path, ::dlerror(), cuda);
  void* symbol = ::dlsym(library, kCreateEngineSymbol);
  if (symbol == nullptr) refuse(path, ::dlerror(), cuda);
  return reinterpret_cast<CreateEngine>(symbol);
}

}  // namespace krl::libtorch
