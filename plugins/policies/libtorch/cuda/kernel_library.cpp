#include "cuda/kernel_library.hpp"

#include <c10/cuda/CUDAStream.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kernelrl/values.hpp>
#include <optional>
#include <sstream>

#include "storage/file.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw Failure(KRL_INTERNAL, std::string(what) + ": " + cudaGetErrorString(error));
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

std::string read_if_there(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return file ? text.str() : std::string();
}

// Under its name only when all of it is on disk: several processes may start at once, and what is
// cut off could not be told from what is whole.
void keep(const fs::path& path, const std::string& cubin) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path partial = path.string() + "." + std::to_string(::getpid());
  try {
    write_file(partial, {cubin});
    fs::rename(partial, path, ignored);
  } catch (const Failure&) {
    fs::remove(partial, ignored);
  }
}

cudaError_t load(const std::string& cubin, cudaLibrary_t& library) {
  return cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
}

}  // namespace

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
  const std::string architecture = current_architecture();
  fs::path path;  // of the CUBIN in the cache; empty without one
  if (const auto folder = cache_folder()) {
    path = *folder / "kernels" / (cubin_name(source, defines, architecture) + ".cubin");
    const std::string kept = read_if_there(path);
    if (!kept.empty() && load(kept, library_) == cudaSuccess) return;
  }
  const std::string cubin = compile_kernels(name, source, defines, architecture);
  check(load(cubin, library_), "cannot load the kernels of the local policy");
  if (!path.empty()) keep(path, cubin);
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
