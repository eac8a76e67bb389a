// Read-only views of what the host passes in: tasks, evaluations, turns. Each borrows for the
// length of the call.
#pragma once

#include <kernelrl/values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

namespace krl {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

class Task {
 public:
  explicit Task(const krl_task* c) : c_(c) {}
  std::string_view id() const { return view(c_->id); }
  std::string_view title() const { return view(c_->title); }
  std::string_view prompt() const { return view(c_->prompt); }
  unsigned tier() const { return c_->tier; }
  // Everything about the task: <kernelrl/task_definition.hpp> reads it.
  std::string_view definition_json() const { return view(c_->definition_json); }
  const krl_task* c() const { return c_; }

 private:
  const krl_task* c_;
};

class Diagnostic {
 public:
  explicit Diagnostic(const krl_diagnostic* c) : c_(c) {}
  unsigned severity() const { return c_->severity; }  // KRL_SEVERITY_*
  bool is_warning() const { return c_->severity == KRL_SEVERITY_WARNING; }
  unsigned line() const { return c_->line; }
  unsigned column() const { return c_->column; }
  std::string_view code() const { return view(c_->code); }
  std::string_view text() const { return view(c_->text); }

 private:
  const krl_diagnostic* c_;
};

class Kernel {
 public:
  explicit Kernel(const krl_kernel* c) : c_(c) {}
  std::string_view name() const { return view(c_->name); }
  int registers() const { return c_->registers; }        // per thread; -1 = unknown
  int spill_bytes() const { return c_->spill_bytes; }    // -1 = unknown
  int shared_bytes() const { return c_->shared_bytes; }  // per block; -1 = unknown
  double occupancy() const { return c_->occupancy; }     // 0..1; NaN = unknown

 private:
  const krl_kernel* c_;
};

class Case {
 public:
  explicit Case(const krl_case* c) : c_(c) {}
  std::string_view label() const { return view(c_->label); }
  unsigned verdict() const { return c_->verdict; }
  bool passed() const { return c_->verdict == KRL_VERDICT_OK; }
  unsigned kind() const { return c_->kind; }  // KRL_CASE_*
  bool timed() const { return std::isfinite(c_->speedup); }
  double speedup() const { return c_->speedup; }          // over the baseline; NaN = not timed
  double speedup_low() const { return c_->speedup_low; }  // lower end of the 95 % interval
  double time_ns() const { return c_->time_ns; }

 private:
  const krl_case* c_;
};

class Evaluation {
 public:
  explicit Evaluation(const krl_evaluation* c) : c_(c) {}

  unsigned verdict() const { return c_->verdict; }  // KRL_VERDICT_*
  bool passed() const { return c_->verdict == KRL_VERDICT_OK; }
  bool compiled() const {
    return c_->verdict != KRL_VERDICT_FORMAT_ERROR && c_->verdict != KRL_VERDICT_REJECTED &&
           c_->verdict != KRL_VERDICT_COMPILE_ERROR;
  }
  std::string_view why() const { return view(c_->why); }
  Views<Diagnostic, krl_diagnostic> diagnostics() const {
    return {c_->diagnostics, c_->n_diagnostics};
  }
  Views<Kernel, krl_kernel> kernels() const { return {c_->kernels, c_->n_kernels}; }
  Views<Case, krl_case> cases() const { return {c_->cases, c_->n_cases}; }

  // Share of the cases, fresh ones among them and hold-outs aside, that passed, 0..1; 0 where none
  // was run.
  double pass_rate() const {
    unsigned all = 0, good = 0;
    for (const Case& c : cases()) {
      if (c.kind() == KRL_CASE_HOLDOUT) continue;
      ++all;
      good += c.passed();
    }
    return all == 0 ? 0 : static_cast<double>(good) / all;
  }
  // Geometric mean over the timed cases of the interval's lower end, so that noise earns nothing;
  // NaN = not timed.
  double speedup() const {
    double log_sum = 0;
    unsigned timed = 0;
    for (const Case& c : cases()) {
      if (c.kind() != KRL_CASE_SHOWN || !c.timed()) continue;
      log_sum += std::log(c.speedup_low());
      ++timed;
    }
    return timed == 0 ? kUnknown : std::exp(log_sum / timed);
  }
  // The largest of all kernels; -1 = unknown.
  int max_registers() const { return largest(&Kernel::registers); }
  int max_shared_bytes() const { return largest(&Kernel::shared_bytes); }
  int max_spill_bytes() const { return largest(&Kernel::spill_bytes); }
  // The smallest theoretical occupancy of the kernels whose occupancy is known, 0..1; NaN = of
  // none.
  double min_occupancy() const {
    double least = kUnknown;
    for (const Kernel& k : kernels()) least = std::fmin(least, k.occupancy());
    return least;
  }
  // The mean over the cases of the value of that name, or the one of the whole evaluation.
  std::optional<double> value(std::string_view name) const {
    double sum = 0;
    unsigned n = 0;
    for (std::size_t i = 0; i < c_->n_values; ++i) {
      if (view(c_->values[i]->name) == name) sum += c_->values[i]->value, ++n;
    }
    return n == 0 ? std::nullopt : std::optional(sum / n);
  }
  const krl_evaluation* c() const { return c_; }

 private:
  int largest(int (Kernel::*figure)() const) const {
    int most = -1;
    for (const Kernel& k : kernels()) most = (std::max)(most, (k.*figure)());
    return most;
  }
  const krl_evaluation* c_;
};

class Turn {
 public:
  explicit Turn(const krl_turn* c) : c_(c) {}
  unsigned index() const { return c_->index; }  // 0 = first of its episode
  Task task() const { return Task(c_->task); }
  std::string_view prompt() const { return view(c_->prompt); }
  std::string_view answer() const { return view(c_->answer); }
  std::string_view thinking() const { return view(c_->thinking); }
  std::string_view source() const { return view(c_->source); }
  unsigned format() const { return c_->format; }  // KRL_FORMAT_*
  bool truncated() const { return c_->stop_reason == KRL_STOP_LENGTH; }
  Span<std::int32_t> tokens() const { return span(c_->tokens); }
  Span<float> logprobs() const { return span(c_->logprobs); }
  Evaluation evaluation() const { return Evaluation(c_->evaluation); }
  std::optional<Turn> previous() const {
    return c_->previous ? std::optional(Turn(c_->previous)) : std::nullopt;
  }

 private:
  const krl_turn* c_;
};

}  // namespace krl
