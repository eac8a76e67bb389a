// Answers in the form of KernelBench: Python with a class ModelNew, whose forward calls functions
// of CUDA sources that torch.utils.cpp_extension.load_inline compiles. Such an answer becomes a
// torch extension without Python: its sources, and its forward in C++. The arguments are the task's
// inputs; inputs that replace the module's own tensors are its weights, and the task's values are
// the attributes that its constructor sets. A forward that computes by itself, by PyTorch's modules
// or operators, is refused by name: only calls of the answer's own functions, shapes and views are
// translated. Pure.
#pragma once

#include <kernelrl/checked.hpp>
#include <kernelrl/task_definition.hpp>
#include <string>
#include <string_view>

#include "plugins/backends/evaluator/source/static_checks.hpp"

namespace krl::python {

bool is_model_answer(std::string_view source);

struct BoundAnswer {
  std::string source;   // CUDA, with the lines of the answer's text
  std::string forward;  // C++ with a function kernelrl_forward, and that bound for the harness
};

// Or why the answer is not bound to the task.
Checked<BoundAnswer, evaluator::SourceProblem> bind_model_answer(std::string_view answer,
                                                                 const TaskDefinition& task);

}  // namespace krl::python
