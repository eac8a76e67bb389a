#include "plugins/backends/cuda/worker/counters/cupti.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "plugins/backends/cuda/worker/counters/counter.hpp"

namespace krl::gpu {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libcupti.so.13";  // the headers' version: structs grow with it
constexpr char kHostLibrary[] = "libnvperf_host.so";
constexpr char kHowToInstall[] =
    "; call scripts/setup.sh, or install the CUDA toolkit 13 and set CUDA_HOME";

// Returns the wheels of the installation that this program belongs to.
fs::path wheels() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return (program.parent_path() / "../../lib/kernelrl/python").lexically_normal();
}

// Returns the folders to search, in order; "" = the system's search path.
std::vector<fs::path> folders() {
  std::vector<fs::path> all;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    all.push_back(fs::path(home) / "extras" / "CUPTI" / "lib64");
  }
  all.push_back(wheels() / "nvidia" / "cu13" / "lib");
  all.emplace_back("/usr/local/cuda/extras/CUPTI/lib64");
  all.emplace_back();
  return all;
}

// CUPTI opens its host half by its name alone, which finds it once it is open.
void* open_in(const fs::path& folder) {
  std::error_code error;
  if (!folder.empty() && !fs::exists(folder / kLibrary, error)) return nullptr;
  ::dlopen((folder / kHostLibrary).c_str(), RTLD_NOW | RTLD_GLOBAL);
  return ::dlopen((folder / kLibrary).c_str(), RTLD_NOW | RTLD_GLOBAL);
}

void* open_library() {
  std::string places;
  for (const fs::path& folder : folders()) {
    ::dlerror();
    if (void* library = open_in(folder)) return library;
    const char* why = ::dlerror();
    places += (places.empty() ? "" : ", ") + (folder.empty() ? "the system" : folder.string());
    if (why != nullptr && !folder.empty()) places += std::string(" (") + why + ")";
  }
  throw std::runtime_error(std::string("no ") + kLibrary + " in " + places + kHowToInstall);
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  void* symbol = ::dlsym(library, name);
  if (symbol == nullptr) {
    throw std::runtime_error(std::string("this ") + kLibrary + " lacks " + name + kHowToInstall);
  }
  std::memcpy(&function, &symbol, sizeof symbol);
}

Cupti load() {
  void* library = open_library();
  Cupti loaded;
#define KRL_FIND(name) find(library, #name, loaded.name);
  KRL_CUPTI_FUNCTIONS(KRL_FIND)
#undef KRL_FIND
  return loaded;
}

std::string name_of(CUptiResult code) {
  const char* name = nullptr;
  cupti().cuptiGetResultString(code, &name);
  return name == nullptr ? "CUPTI error " + std::to_string(code) : name;
}

bool is_refusal(CUptiResult code) {
  return code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ||
         code == CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES;
}

}  // namespace

CuptiError::CuptiError(CUptiResult failed, const std::string& call)
    : std::runtime_error(call + ": " + name_of(failed) +
                         (is_refusal(failed) ? kHowToPermitCounters : "")),
      code(failed) {}

const Cupti& cupti() {
  static const Cupti loaded = load();
  return loaded;
}

void require(CUptiResult result, const std::string& call) {
  if (result != CUPTI_SUCCESS) throw CuptiError(result, call);
}

}  // namespace krl::gpu
