#include "plugins/backends/cuda/gpu/ncu/ncu_search.hpp"

#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <kernelrl/values.hpp>

#include "plugins/process/search_path.hpp"

namespace krl::cuda {
namespace {

namespace fs = std::filesystem;

constexpr char kProgram[] = "ncu";

// The folders in `parent` whose names begin with `start`, the newest version first: as numbers,
// "2025.10" is after "2025.9".
std::vector<fs::path> versions_in(const fs::path& parent, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().filename().string().starts_with(start)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return ::strverscmp(a.filename().c_str(), b.filename().c_str()) > 0;
  });
  return found;
}

}  // namespace

std::vector<fs::path> ncu_folders() {
  std::vector<fs::path> all = process::folders_on_path();
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    all.push_back(fs::path(home) / "bin");
  }
  all.emplace_back("/usr/local/cuda/bin");
  for (const fs::path& toolkit : versions_in("/usr/local", "cuda-")) all.push_back(toolkit / "bin");
  for (fs::path& version : versions_in("/opt/nvidia/nsight-compute", "")) {
    all.push_back(std::move(version));
  }
  return all;
}

std::string find_ncu(const std::vector<fs::path>& folders) {
  for (const fs::path& folder : folders) {
    const fs::path program = folder / kProgram;
    std::error_code error;
    if (fs::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0) {
      return fs::absolute(program, error).string();
    }
  }
  throw Failure(KRL_FAILED_PRECONDITION,
                "counters = \"ncu\": no program ncu in $PATH, $CUDA_HOME/bin, /usr/local/cuda*/bin "
                "and /opt/nvidia/nsight-compute/*: install NVIDIA Nsight Compute (it comes with "
                "the CUDA toolkit; as a package it is nsight-compute-…), or set counters = "
                "\"auto\", which reads fewer of them through CUPTI");
}

}  // namespace krl::cuda
