#include "plugins/backends/evaluator/compile/cuda_folders.hpp"

#include <cstdlib>
#include <kernelrl/values.hpp>

namespace krl::evaluator {

namespace fs = std::filesystem;

std::vector<fs::path> cuda_folders(const fs::path& wanted, const fs::path& wheels) {
  if (!wanted.empty()) return {wanted};
  std::vector<fs::path> all;
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr && *home != '\0') {
    all.emplace_back(home);
  }
  all.push_back(wheels / "nvidia" / "cu13");
  all.emplace_back("/usr/local/cuda");
  return all;
}

void not_in_cuda_folders(const std::string& what, const std::string& setup,
                         const std::vector<fs::path>& folders) {
  std::string places;
  for (const fs::path& folder : folders) {
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  throw Failure(KRL_FAILED_PRECONDITION, "no " + what + " in " + places + ": call " + setup +
                                             ", or install the CUDA toolkit, or set 'cuda'");
}

}  // namespace krl::evaluator
