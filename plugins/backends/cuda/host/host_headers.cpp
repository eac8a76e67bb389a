#include "plugins/backends/cuda/host/host_headers.hpp"

#include <algorithm>
#include <vector>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"

namespace krl::cuda {

namespace fs = std::filesystem;

std::string digest_of_headers(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  files::Digest digest;
  for (const std::string& file : files) {
    digest.add(fs::relative(file, folder).string()).add(files::read_file_or_empty(file));
  }
  return digest.hex();
}

}  // namespace krl::cuda
