// The source of a candidate of the contract `host` as it is compiled: the candidate's own text with
// the call of its launcher after it, which the compiler checks against the launcher's signature.
// Pure.
//
// A candidate is plain CUDA, with a function
//   launch(tensors…, scalars…, axes…[, cudaStream_t])
// of the task's inputs, its outputs that are not inputs, its scalars, and its axes that vary; or a
// torch extension, with a function `forward` that takes the inputs and the scalars and returns the
// outputs, and is made known by PYBIND11_MODULE or is in the open; or an answer in Python
// (model_answer.hpp).
#pragma once

#include <kernelrl/cuda_source.hpp>
#include <kernelrl/task_definition.hpp>
#include <string>
#include <string_view>

#include "plugins/backends/python_answers/model_answer.hpp"

namespace krl::cuda {

enum class HostForm { kLaunch, kTorchModule, kTorchFunction };

HostForm host_form(const ScannedSource& source);

// Returns the signature of the task's launcher: "launch(float* x, float* y, int n)".
std::string launcher_signature(const TaskDefinition& task);

// Adds the call by the harness, whose errors have no line of the source. See host_headers.hpp for
// its includes.
std::string with_host_call(std::string_view source, const ScannedSource& scanned,
                           const TaskDefinition& task);

// The same of an answer in Python.
std::string with_host_call(const python::BoundAnswer& answer);

}  // namespace krl::cuda
