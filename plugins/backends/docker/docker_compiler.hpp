// nvcc in the worker container as a compiler of the CUDA backends. The toolkit is this machine's,
// mounted read-only; of a compile nothing is left in the container.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "plugins/backends/cuda/cuda_compiler.hpp"
#include "plugins/backends/docker/container_specification.hpp"

namespace krl {

struct DockerCompilerSettings {
  std::string arch;                                 // "sm_90"
  std::vector<std::string> flags;                   // more options of nvcc's
  std::filesystem::path cuda = "/usr/local/cuda";   // the toolkit on this machine
  std::chrono::milliseconds compile_limit{10'000};  // of the processor, for each of nvcc's programs
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // address space of each
  docker::ContainerSettings container;                  // the toolkit is added to its mounts
};

// Starts the container; the compiler keeps it. Throws Failure: KRL_INVALID_ARGUMENT for an unknown
// arch, KRL_FAILED_PRECONDITION if there is no toolkit, no image or no permission, KRL_UNAVAILABLE
// if Docker is not there or refuses.
CudaCompiler docker_compiler(const DockerCompilerSettings& settings);

}  // namespace krl
