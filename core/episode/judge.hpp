// The judge of a kernel: the backend that evaluates it and, if the plan has one, a sanitizer: a
// second backend that re-executes what passed. On a GPU, a data race or a read past the end of an
// array often changes no result; the sanitizer detects it.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <string>

#include "core/base/result.hpp"
#include "core/plugin/backend.hpp"
#include "core/task/task.hpp"

namespace krl::core {

// Thread-safe; calls block.
class Judge {
 public:
  // Values of an evaluation that passed on the backend: whether the sanitizer could execute the
  // kernel (0) or not (1), and if so, whether it found nothing (0) or refused it (1).
  static constexpr const char *kUnsanitized = "unsanitized", *kUnsafe = "unsafe";

  // Both outlive it; `sanitizer`: null if there is none.
  explicit Judge(const Backend& backend, const Backend* sanitizer = nullptr)
      : backend_(&backend), sanitizer_(sanitizer) {}

  const BackendInfo& info() const { return backend_->info(); }
  const Component& backend() const { return backend_->component(); }
  // A text that is the same only if both backends, their tools and their devices are.
  std::string identity() const;

  // Checks the task itself; see Backend::prepare.
  Status prepare(const Task& task, const EvaluateOptions& options) const;

  // The backend's evaluation. If the kernel passes there, but the sanitizer finds a fault, a wrong
  // result or a nondeterministic one, the sanitizer's evaluation, whose `backend` is then the
  // sanitizer. A kernel that the sanitizer cannot compile or execute to the end keeps the backend's
  // evaluation. An error is an infrastructure error of either backend, after one more try.
  Result<Evaluation> evaluate(const Task& task, const std::string& source,
                              const EvaluateOptions& options) const;

 private:
  Result<Evaluation> sanitize(const Task& task, const std::string& source, EvaluateOptions options,
                              Evaluation passed) const;

  const Backend* backend_;
  const Backend* sanitizer_;
};

}  // namespace krl::core
