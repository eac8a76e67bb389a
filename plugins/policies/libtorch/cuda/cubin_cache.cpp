#include "plugins/policies/libtorch/cuda/cubin_cache.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kernelrl/values.hpp>
#include <optional>
#include <sstream>

#include "plugins/policies/storage/file.hpp"
#include "plugins/policies/storage/sha256.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> cache_folder() {
  if (const char* folder = std::getenv("KERNELRL_CACHE_DIR")) return fs::path(folder);
  if (const char* folder = std::getenv("XDG_CACHE_HOME")) return fs::path(folder) / "kernelrl";
  if (const char* home = std::getenv("HOME")) return fs::path(home) / ".cache" / "kernelrl";
  return std::nullopt;
}

// A CUBIN in the cache, followed by its SHA-256: what is damaged could not be told from what is
// whole, as CUDA reads most of it only when a kernel is asked for.
constexpr std::size_t kDigestSize = 64;

// Empty if there is none, or it is damaged.
std::string kept_cubin(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  std::string cubin = text.str();
  if (!file || cubin.size() < kDigestSize) return {};
  const std::string digest = cubin.substr(cubin.size() - kDigestSize);
  cubin.resize(cubin.size() - kDigestSize);
  return policies::sha256_hex(cubin) == digest ? cubin : std::string();
}

// Under its name only when all of it is on disk: several processes may start at once.
void keep(const fs::path& path, const std::string& cubin) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const fs::path partial = path.string() + "." + std::to_string(::getpid());
  try {
    policies::write_file(partial, {cubin, policies::sha256_hex(cubin)});
    fs::rename(partial, path, ignored);
  } catch (const Failure&) {
    fs::remove(partial, ignored);
  }
}

}  // namespace

std::string cached_cubin(std::string_view name, std::string_view source,
                         const std::vector<Define>& defines, const std::string& architecture) {
  const auto folder = cache_folder();
  if (!folder) return compile_kernels(name, source, defines, architecture);
  const fs::path path =
      *folder / "kernels" / (cubin_name(source, defines, architecture) + ".cubin");
  std::string cubin = kept_cubin(path);
  if (!cubin.empty()) return cubin;
  cubin = compile_kernels(name, source, defines, architecture);
  keep(path, cubin);
  return cubin;
}

}  // namespace krl::libtorch
