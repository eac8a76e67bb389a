// Answers in the form of KernelBench: Python with a class ModelNew, whose forward calls functions of
// CUDA sources that torch.utils.cpp_extension.load_inline compiles. Such an answer becomes a torch
// extension without Python: its sources, and its forward in C++, where the arguments are the task's
// inputs, its weights the inputs that stand in the places of the module's own tensors, and what its
// constructor keeps the values of the task. A forward that computes by itself, by PyTorch's modules
// or operators, is refused by name: only calls of the answer's own functions, shapes and views are
// translated. Pure.
#pragma once

#include <kernelrl/checked.hpp>
#include <kernelrl/task_definition.hpp>
#include <string>
#include <string_view>

#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl::cuda {
using namespace evaluator;

bool is_model_answer(std::string_view source);

struct BoundAnswer {
  std::string source;   // CUDA, with the lines of the answer's text
  std::string forward;  // C++ with a function kernelrl_forward, and that bound for the harness
};

// Or why the answer is not bound to the task.
Checked<BoundAnswer, SourceProblem> bind_model_answer(std::string_view answer,
                                                      const TaskDefinition& task);

}  // namespace krl::cuda
