#include "plugins/backends/nvrtc/nvrtc_library.hpp"

#include <cstdlib>
#include <kernelrl/values.hpp>
#include <optional>
#include <vector>

namespace krl {
namespace {

namespace fs = std::filesystem;

// The newest first.
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

NvrtcLibrary with_headers(const fs::path& library, const fs::path& root) {
  std::error_code error;
  const fs::path headers = root / "include";
  const bool found = fs::exists(headers / "cuda_fp16.h", error);
  return {fs::canonical(library), found ? fs::canonical(headers) : fs::path()};
}

// The library below a folder of CUDA's: lib64/ of a toolkit, lib/ of the wheels.
std::optional<NvrtcLibrary> below(const fs::path& root) {
  std::error_code error;
  for (const char* folder : {"lib64", "lib"}) {
    for (const char* name : kNames) {
      const fs::path library = root / folder / name;
      if (fs::exists(library, error)) return with_headers(library, root);
    }
  }
  return std::nullopt;
}

std::vector<fs::path> roots(const fs::path& wanted, const fs::path& wheels) {
  if (!wanted.empty()) return {wanted};
  std::vector<fs::path> all;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    all.emplace_back(home);
  }
  all.push_back(wheels / "nvidia" / "cu13");
  all.emplace_back("/usr/local/cuda");
  return all;
}

}  // namespace

NvrtcLibrary find_nvrtc(const fs::path& wanted, const fs::path& wheels) {
  std::error_code error;
  if (fs::is_regular_file(wanted, error)) {
    return with_headers(wanted, wanted.parent_path().parent_path());
  }
  std::string places;
  for (const fs::path& root : roots(wanted, wheels)) {
    if (auto found = below(root)) return *std::move(found);
    places += (places.empty() ? "" : ", ") + root.string();
  }
  throw Failure(KRL_FAILED_PRECONDITION,
                "no NVRTC in " + places +
                    ": install the CUDA toolkit, or call scripts/setup.sh --cuda, or set 'cuda'");
}

}  // namespace krl
