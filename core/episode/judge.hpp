// The judge of a kernel: the backend that evaluates it, and others that a plan may put around it.
// Cheaper ones before it save its time: what they refuse never gets to it. A sanitizer after it
// re-executes what passed: on a GPU, a data race or a read past the end of an array often changes
// no result; the sanitizer detects it.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/backend.hpp"
#include "core/plugin/components.hpp"
#include "core/task/task.hpp"

namespace krl::core {

struct JudgeBackends {
  std::vector<const Backend*> before;  // in their order
  const Backend* backend = nullptr;
  const Backend* sanitizer = nullptr;  // null: there is none

  auto operator<=>(const JudgeBackends&) const = default;
};

// `components` outlives the result.
Result<JudgeBackends> open_backends(const BackendSettings& settings, Components& components);

// Thread-safe; calls block. Copies share what they know of durations.
class Judge {
 public:
  // Values of an evaluation that passed on the backend: whether the sanitizer could execute the
  // kernel (0) or not (1), and if so, whether it found nothing (0) or refused it (1).
  static constexpr const char *kUnsanitized = "unsanitized", *kUnsafe = "unsafe";

  // The backends outlive it.
  explicit Judge(const JudgeBackends& backends);

  // The backend's, except that concurrency is the largest of all that evaluate.
  const BackendInfo& info() const { return info_; }
  const Component& backend() const { return backends_.backend->component(); }
  // A text that is the same only if all backends, their tools and their devices are.
  std::string identity() const;

  // Checks the task itself; see Backend::prepare.
  Status prepare(const Task& task, const EvaluateOptions& options) const;

  // The evaluation of the first backend that refuses the kernel, which its `backend` names; else
  // the backend's. Those before it and the sanitizer refuse what they execute to a fault, a wrong
  // result or a nondeterministic one, and those that only compile what they cannot compile;
  // everything else may be due to their own limits. An error is an infrastructure error of a
  // backend, after one more try.
  Result<Evaluation> evaluate(const Task& task, const std::string& source,
                              const EvaluateOptions& options) const;

 private:
  class Durations;

  Result<Evaluation> evaluate_on_backend(const Task& task, const std::string& source,
                                         const EvaluateOptions& options, double* took_ms) const;
  Result<Evaluation> sanitize(const Task& task, const std::string& source,
                              const EvaluateOptions& options, Evaluation passed) const;

  JudgeBackends backends_;
  BackendInfo info_;
  std::vector<std::string> names_;        // names of their costs; the backend's is the last
  std::shared_ptr<Durations> durations_;  // durations of the backend's calls
};

}  // namespace krl::core
