// Sources with host code of their own as people write them (host_sources/*.cu): torch extensions in
// the ways of their authors, and plain CUDA. The first line names the task.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plugins/files/file.hpp"

namespace krl::testing {
using namespace evaluator;

struct HostSource {
  std::string name, task, text;
};

inline std::vector<HostSource> host_sources() {
  std::vector<HostSource> sources;
  const std::string folder = KERNELRL_SOURCE_DIR "/tests/unit/backends/nvcc/host_sources";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = files::read_file_or_empty(entry.path());
    sources.push_back({entry.path().stem(), text.substr(3, text.find('\n') - 3), text});
  }
  return sources;
}

}  // namespace krl::testing
