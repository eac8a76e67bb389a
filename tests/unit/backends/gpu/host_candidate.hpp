// Candidates with host code of their own for simulated GPUs: compiled by g++ with the very call
// that nvcc compiles, as on a simulated GPU memory is the host's. They have no kernels: their host
// code does the work.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "plugins/backends/cuda/gpu/gpu_candidate.hpp"
#include "plugins/backends/cuda/host/host_source.hpp"
#include "plugins/files/file.hpp"
#include "plugins/process/subprocess.hpp"
#include "tests/unit/backends/gpu/simulated_gpu.hpp"

namespace krl::testing {

// What a shared object that g++ made of `source` holds. Throws with g++'s words.
inline std::string compiled_by_gxx(const std::string& source) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("krl-host-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const MemoryFile text = MemoryFile::with("krl-source", source);
  const MemoryFile log = MemoryFile::create("krl-log");
  const std::string library = folder / "candidate.so";
  Command command;
  command.arguments = {"/usr/bin/g++", "-x", "c++", "-std=c++20", "-O1", "-shared", "-fPIC", "-w",
                       "-I" KERNELRL_BINARY_DIR "/share/kernelrl/host",
                       "-I" KERNELRL_PYTHON_DEPS "/nvidia/cu13/include",
                       // what CUDA's compiler has without an #include
                       "-include", "cuda_runtime_api.h", "-o", library, "-"};
  command.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + folder.string()};
  command.descriptors = {{text.descriptor(), 0}, {log.descriptor(), 2}};
  const Ending ending = Subprocess(command).wait(std::chrono::minutes(2));
  const std::string object = ending.ok() ? files::read_file_or_empty(library) : "";
  fs::remove_all(folder);
  if (object.empty()) throw std::runtime_error(log.read(4000));
  return object;
}

struct HostCandidate {
  LaunchSchedule schedule;
  CompiledModule module;

  // `body`: of a launch for the task of simulated_gpu.hpp, or all of a source that has one.
  explicit HostCandidate(const std::string& text) {
    const bool whole = text.find("launch(") != std::string::npos ||
                       text.find("PYBIND11_MODULE") != std::string::npos;
    const std::string source =
        whole ? text : "void launch(const float* x, float* y, int n) {" + text + "}";
    module.library =
        compiled_by_gxx(with_host_call(source, scan_cuda_source(source), task().definition));
  }
  operator GpuCandidate() const { return {task(), schedule, module}; }
};

}  // namespace krl::testing
