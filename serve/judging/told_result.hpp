// The result of a judged kernel as clients are told it. Pure.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <memory>
#include <string>

#include "serve/judging/task_shelf.hpp"
#include "service/kernels/kernel_judges.hpp"

namespace krl::serve {
using namespace core;

// Immutable, and shared by all who asked the same.
struct ToldResult {
  Evaluation evaluation;  // without its secrets
  std::string headline;   // "ok: 2.10 times the baseline"
  std::string feedback;   // the text that the next prompt of a training would show
  std::string json;       // the members "task", "digest", "evaluation", "headline" and "feedback",
                          // and those of a protocol, without braces
};
// About what it takes of memory.
std::size_t bytes_of(const ToldResult& told);

using ToldPointer = std::shared_ptr<const ToldResult>;

// Leaves out what would tell a client how to pass without being right: the shapes and figures of
// hold-outs and of fresh cases, but for the one whose failure a training prompt would show. Their
// verdicts and kinds stay.
Evaluation without_secrets(Evaluation evaluation);

ToldPointer tell(const ServedTask& task, const std::string& source, service::JudgedKernel judged);

}  // namespace krl::serve
