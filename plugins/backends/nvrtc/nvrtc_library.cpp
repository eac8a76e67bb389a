#include "plugins/backends/nvrtc/nvrtc_library.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "plugins/backends/evaluator/compile/cuda_folders.hpp"

namespace krl::nvrtc {
using namespace evaluator;
namespace {

namespace fs = std::filesystem;

// The newest first.
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// nvJitLink of the same version as an NVRTC of that name.
std::string name_of_assembler(const fs::path& nvrtc) {
  const std::string name = nvrtc.filename().string();
  return "libnvJitLink" + name.substr(std::min(name.find('.'), name.size()));
}

NvrtcLibrary with_what_belongs_to_it(const fs::path& library, const fs::path& root) {
  std::error_code error;
  const fs::path headers = root / "include";
  const bool found = fs::exists(headers / "cuda_fp16.h", error);
  NvrtcLibrary nvrtc{fs::canonical(library), found ? fs::canonical(headers) : fs::path()};
  const fs::path assembler = library.parent_path() / name_of_assembler(library);
  if (fs::exists(assembler, error)) nvrtc.assembler = fs::canonical(assembler);
  return nvrtc;
}

// The library below a folder of CUDA's: lib64/ of a toolkit, lib/ of the wheels.
std::optional<NvrtcLibrary> below(const fs::path& root) {
  std::error_code error;
  for (const char* folder : {"lib64", "lib"}) {
    for (const char* name : kNames) {
      const fs::path library = root / folder / name;
      if (fs::exists(library, error)) return with_what_belongs_to_it(library, root);
    }
  }
  return std::nullopt;
}

}  // namespace

NvrtcLibrary find_nvrtc(const fs::path& wanted, const fs::path& wheels) {
  std::error_code error;
  if (fs::is_regular_file(wanted, error)) {
    return with_what_belongs_to_it(wanted, wanted.parent_path().parent_path());
  }
  const std::vector<fs::path> folders = cuda_folders(wanted, wheels);
  for (const fs::path& folder : folders) {
    if (auto found = below(folder)) return *std::move(found);
  }
  not_in_cuda_folders("NVRTC", "scripts/setup.sh", folders);
}

}  // namespace krl::nvrtc
