#include "plugins/policies/libtorch/cuda/cubin_cache.hpp"

#include <cstdlib>

#include "plugins/files/disk_cache.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = 256 << 20;  // hundreds of versions of all kernels

fs::path cache_folder() {
  const char* folder = std::getenv("KERNELRL_CACHE_DIR");
  return folder != nullptr ? fs::path(folder) : files::cache_folder_of("");
}

}  // namespace

std::string cached_cubin(std::string_view name, std::string_view source,
                         const std::vector<Define>& defines, const std::string& architecture) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return compile_kernels(name, source, defines, architecture);
  files::DiskCache cache(folder / "kernels", kMaxBytes);
  const std::string key = cubin_name(source, defines, architecture);
  if (auto cubin = cache.get(key)) return *std::move(cubin);
  std::string cubin = compile_kernels(name, source, defines, architecture);
  cache.put(key, cubin);
  return cubin;
}

}  // namespace krl::libtorch
