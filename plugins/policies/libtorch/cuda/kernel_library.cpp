#include "cuda/kernel_library.hpp"

#include <c10/cuda/CUDAStream.h>
#include <dlfcn.h>
#include <nvrtc.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kernelrl/values.hpp>
#include <optional>
#include <sstream>

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;

// NVRTC, opened when it is first needed: where every kernel is in the cache, it never is.
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
                        std::string(::dlerror()) + "; install it with scripts/setup.sh --cuda");
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

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Failure(KRL_INTERNAL, std::string(what) + ": " + cudaGetErrorString(error));
}

std::vector<std::string> options_of(const std::vector<Define>& defines,
                                    const std::string& architecture) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "-default-device",
                                      "--std=c++17"};
  for (const Define& define : defines) {
    options.push_back("-D" + define.name + "=" + std::to_string(define.value));
  }
  return options;
}

// Hopper and what follows have instructions that only their own architecture, not its successors,
// run: the "a" asks for them.
std::string current_architecture() {
  int device = 0, major = 0, minor = 0;
  check(cudaGetDevice(&device), "no current CUDA device");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "cannot ask the GPU for its architecture");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "cannot ask the GPU for its architecture");
  return "sm_" + std::to_string(major) + std::to_string(minor) + (major >= 9 ? "a" : "");
}

std::optional<fs::path> cache_folder() {
  if (const char* folder = std::getenv("KERNELRL_CACHE_DIR")) return fs::path(folder);
  if (const char* folder = std::getenv("XDG_CACHE_HOME")) return fs::path(folder) / "kernelrl";
  if (const char* home = std::getenv("HOME")) return fs::path(home) / ".cache" / "kernelrl";
  return std::nullopt;
}

// The name of a CUBIN in the cache: all that it depends on.
std::string key_of(std::string_view source, const std::vector<std::string>& options) {
  int major = 0, minor = 0;
  Nvrtc::get().version(&major, &minor);
  std::string text = std::to_string(major) + "." + std::to_string(minor);
  for (const std::string& option : options) text += '\n' + option;
  text += '\n';
  text += source;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha256(), nullptr);
  std::string name;
  for (unsigned int i = 0; i < size; ++i) {
    constexpr char kDigits[] = "0123456789abcdef";
    name += kDigits[digest[i] >> 4];
    name += kDigits[digest[i] & 15];
  }
  return name;
}

std::string read_if_there(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

// Under its name only when it is whole: several processes may start at once.
void keep(const fs::path& path, const std::string& cubin) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path partial = path.string() + "." + std::to_string(::getpid());
  {
    std::ofstream file(partial, std::ios::binary);
    file << cubin;
    if (!file.flush()) return;
  }
  fs::rename(partial, path, ignored);
}

std::string cubin_of(std::string_view name, std::string_view source,
                     const std::vector<Define>& defines) {
  const std::string architecture = current_architecture();
  const auto folder = cache_folder();
  if (!folder) return compile_kernels(name, source, defines, architecture);
  const fs::path path =
      *folder / "kernels" / (key_of(source, options_of(defines, architecture)) + ".cubin");
  std::string cubin = read_if_there(path);
  if (!cubin.empty()) return cubin;
  cubin = compile_kernels(name, source, defines, architecture);
  keep(path, cubin);
  return cubin;
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

void Kernel::launch(Grid grid, int threads, int shared_bytes, void** arguments) const {
  const dim3 blocks(static_cast<unsigned>(grid.x), static_cast<unsigned>(grid.y),
                    static_cast<unsigned>(grid.z));
  check(cudaLaunchKernel(reinterpret_cast<const void*>(handle_), blocks,
                         dim3(static_cast<unsigned>(threads)), arguments,
                         static_cast<std::size_t>(shared_bytes),
                         c10::cuda::getCurrentCUDAStream().stream()),
        "cannot launch a kernel of the local policy");
}

KernelLibrary::KernelLibrary(std::string_view name, std::string_view source,
                             const std::vector<Define>& defines) {
  const std::string cubin = cubin_of(name, source, defines);
  check(cudaLibraryLoadData(&library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cannot load the kernels of the local policy");
}

KernelLibrary::~KernelLibrary() {
  if (library_ != nullptr) cudaLibraryUnload(library_);
}

KernelLibrary::KernelLibrary(KernelLibrary&& other) noexcept : library_(other.library_) {
  other.library_ = nullptr;
}

Kernel KernelLibrary::kernel(const char* name, int shared_bytes) const {
  cudaKernel_t handle = nullptr;
  check(cudaLibraryGetKernel(&handle, library_, name), name);
  constexpr int kAlwaysAllowed = 48 * 1024;
  if (shared_bytes > kAlwaysAllowed) {
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(handle),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          name);
  }
  return Kernel(handle);
}

}  // namespace krl::libtorch
