// Runs the kernels of a file on the machine that executes PTX, on buffers that a call names: without a
// task, without a GPU. One thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace krl::emulate {

struct EmulationRequest {
  std::string file;                   // CUDA C++, PTX or Triton
  std::vector<std::string> launches;  // as behind `@launch`; empty: those of the file
  std::vector<std::string> buffers;   // see buffers.hpp
  std::vector<std::string> values;
  std::vector<std::string> saved;    // "y=out.npy"
  std::string gpu;                   // see cpu/gpu_table.hpp
  std::string compiler;              // "nvrtc", "nvcc"; "auto": nvcc for a file with a `main`
  std::vector<std::string> options;  // more options of the compiler
  std::uint64_t seed = 0;            // seed of contents that are drawn, and of orders
  double seconds = 300;              // processor time of each run
  bool once = false;                 // in the order of the blocks alone
};

// Returns the report that docs/emulate.md describes. Throws Failure(KRL_INVALID_ARGUMENT) for a call
// that is wrong, and others where this machine lacks something.
nlohmann::ordered_json emulate(const EmulationRequest& request);

// Throws nlohmann::json::exception for a key that is missing, or of another type.
void from_json(const nlohmann::json& json, EmulationRequest& request);

}  // namespace krl::emulate
