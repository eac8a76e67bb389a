// nvcc in the worker container as a compiler of the CUDA backends. The toolkit is this machine's,
// mounted read-only; a compile leaves nothing in the container.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "plugins/backends/docker/container_specification.hpp"
#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"

namespace krl::docker {

struct DockerCompilerSettings {
  evaluator::CompileSettings compile;  // its limits apply to each program that nvcc starts
  std::filesystem::path wheels;        // folder that find_nvcc searches as well; empty: none
  std::chrono::milliseconds time_limit{30'000};  // wall time of a compile
  ContainerSettings container;                   // the toolkit is added to its mounts
  // The headers for host code of candidates (host_headers.hpp); empty if there is none.
  std::filesystem::path host_headers;
};

// Starts the container; the compiler keeps it. nvcc is looked for as find_nvcc does. Throws
// Failure: KRL_INVALID_ARGUMENT for an unknown arch, KRL_FAILED_PRECONDITION if there is no
// toolkit, no image or no permission, KRL_UNAVAILABLE if Docker is not there or refuses.
evaluator::CudaCompiler docker_compiler(const DockerCompilerSettings& settings);

}  // namespace krl::docker
