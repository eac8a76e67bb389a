#include "plugins/backends/cuda/gpu/gpu_search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <kernelrl/values.hpp>
#include <sstream>

#include "plugins/process/message_stream.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kSearchLimit{60};
constexpr const char* kLibraryFolders[] = {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu",
                                           "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"};

// Lists the folders of LD_LIBRARY_PATH in `environment` first.
std::vector<std::string> library_folders(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  std::vector<std::string> folders;
  for (const std::string& variable : environment) {
    if (variable.rfind(kName, 0) != 0) continue;
    std::istringstream list(variable.substr(kName.size()));
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) folders.push_back(folder);
    }
  }
  folders.insert(folders.end(), std::begin(kLibraryFolders), std::end(kLibraryFolders));
  return folders;
}

std::vector<std::string> files_of(const std::string& library,
                                  const std::vector<std::string>& folders) {
  std::vector<std::string> files;
  std::error_code error;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      if (name.rfind("lib" + library + ".so", 0) == 0) files.push_back(entry.path());
    }
    if (!files.empty()) return files;
  }
  invalid_argument("allow_libraries: there is no lib" + library +
                   ".so in any of the folders of "
                   "libraries; its folder can be added to LD_LIBRARY_PATH");
}

[[noreturn]] void no_gpu(const std::string& why) {
  throw Failure(KRL_FAILED_PRECONDITION,
                why +
                    ". Without a GPU, execute = \"off\" compiles only, and the backend 'cpu' "
                    "emulates one");
}

std::vector<gpu::GpuDescription> all_gpus(const std::string& runner) {
  const MemoryFile output = MemoryFile::create("krl-gpus");
  Command command;
  command.arguments = {runner, "--list"};
  command.environment = gpu_environment();
  command.descriptors = {{output.descriptor(), 1}};
  const Ending ending = Subprocess(command).wait(kSearchLimit);
  ::lseek(output.descriptor(), 0, SEEK_SET);
  const auto message = ending.ok() ? read_message(output.descriptor()) : std::nullopt;
  if (!message) no_gpu("looking for GPUs failed: " + runner + " " + ending.description());
  if (message->contains("error")) no_gpu(message->at("error").get<std::string>());
  return message->at("gpus").get<std::vector<gpu::GpuDescription>>();
}

}  // namespace

std::vector<std::string> gpu_environment() {
  std::vector<std::string> environment = {"CUDA_MODULE_LOADING=EAGER"};
  for (const char* name :
       {"CUDA_DEVICE_ORDER", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) {
      environment.push_back(std::string(name) + "=" + value);
    }
  }
  return environment;
}

std::vector<std::string> find_libraries(const std::string& names,
                                        const std::vector<std::string>& environment) {
  const std::vector<std::string> folders = library_folders(environment);
  std::vector<std::string> files;
  std::string words = names;
  std::replace(words.begin(), words.end(), ',', ' ');
  std::istringstream list(words);
  for (std::string name; list >> name;) {
    for (std::string& file : files_of(name, folders)) files.push_back(std::move(file));
  }
  return files;
}

std::vector<gpu::GpuDescription> find_gpus(const std::string& runner,
                                           const std::vector<int>& indices) {
  std::vector<gpu::GpuDescription> all = all_gpus(runner);
  if (all.empty()) no_gpu("the NVIDIA driver finds no GPU");
  if (indices.empty()) return all;
  std::vector<gpu::GpuDescription> wanted;
  for (const int index : indices) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& gpu) { return gpu.index == index; });
    if (found == all.end()) {
      invalid_argument("gpus: there is no GPU " + std::to_string(index) + " among the " +
                       std::to_string(all.size()) + " that the driver sees");
    }
    wanted.push_back(*found);
  }
  return wanted;
}

}  // namespace krl::cuda
