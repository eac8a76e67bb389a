// Builds the turns that a test shows to a reward.
#pragma once

#include <kernelrl/evaluation.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

// Builds a turn and its evaluation. Initially it is an answer in the exact form whose kernel
// compiled and is right, with nothing measured. A value type; each call of c() returns a krl_turn
// that lives as long as the builder.
class TurnBuilder {
 public:
  TurnBuilder() { evaluation_.verdict = Verdict::kOk, evaluation_.backend = "testing"; }

  TurnBuilder& verdict(Verdict verdict) { return evaluation_.verdict = verdict, *this; }
  TurnBuilder& passed() { return verdict(Verdict::kOk); }
  TurnBuilder& format(std::uint32_t format) { return format_ = format, *this; }
  TurnBuilder& stop_reason(std::uint32_t reason) { return stop_reason_ = reason, *this; }
  TurnBuilder& prompt(std::string text) { return prompt_ = std::move(text), *this; }
  TurnBuilder& answer(std::string text) { return answer_ = std::move(text), *this; }
  // Sets the number of tokens, independently of the text.
  TurnBuilder& tokens(std::size_t count) { return tokens_.assign(count, 0), *this; }
  TurnBuilder& thinking(std::string text) { return thinking_ = std::move(text), *this; }
  TurnBuilder& source(std::string text) { return source_ = std::move(text), *this; }
  TurnBuilder& task(std::string id, std::uint32_t tier) {
    return task_id_ = std::move(id), tier_ = tier, *this;
  }
  // The turn before this one, of the same episode.
  TurnBuilder& previous(TurnBuilder turn) {
    return previous_ = std::make_shared<TurnBuilder>(std::move(turn)), *this;
  }

  // A case that passed, timed with this speedup; without `low` the interval has no width.
  TurnBuilder& speedup(double median) { return speedup(median, median); }
  TurnBuilder& speedup(double median, double low) { return speedup(median, low, median); }
  TurnBuilder& speedup(double median, double low, double high) {
    Case& c = add_case(Verdict::kOk, CaseKind::kShown);
    c.speedup = median, c.speedup_low = low, c.speedup_high = high;
    c.time_ns = 1000, c.baseline_ns = 1000 * median;
    return *this;
  }
  // A case without a time.
  TurnBuilder& untimed_case(Verdict verdict) { return add_case(verdict, CaseKind::kShown), *this; }
  TurnBuilder& holdout_case(Verdict verdict) {
    return add_case(verdict, CaseKind::kHoldout), *this;
  }
  TurnBuilder& fresh_case(Verdict verdict) { return add_case(verdict, CaseKind::kFresh), *this; }
  TurnBuilder& kernel(int registers, int shared_bytes = -1, double occupancy = kUnknown) {
    Kernel& kernel = evaluation_.kernels.emplace_back();
    kernel.name = "kernel", kernel.arch = "sm_90";
    kernel.registers = registers, kernel.shared_bytes = shared_bytes, kernel.occupancy = occupancy;
    return *this;
  }
  TurnBuilder& value(std::string name, double value, int case_index = -1) {
    return evaluation_.values.push_back({case_index, std::move(name), {}, value}), *this;
  }
  TurnBuilder& warning(std::string text) {
    return diagnostic(KRL_SEVERITY_WARNING, std::move(text));
  }
  TurnBuilder& diagnostic(std::uint32_t severity, std::string text) {
    return evaluation_.diagnostics.push_back({severity, 1, 1, {}, std::move(text)}), *this;
  }

  const krl_turn* c() const {
    built_ = std::make_shared<Built>(*this);
    return &built_->turn;
  }

 private:
  // The storage that a krl_turn points into.
  struct Built {
    explicit Built(const TurnBuilder& builder)
        : task(builder.c_task()), evaluation(builder.evaluation_), turn(builder.c_turn(*this)) {}

    krl_task task;
    EvaluationView evaluation;
    krl_turn turn;
  };

  Case& add_case(Verdict verdict, CaseKind kind) {
    Case& c = evaluation_.cases.emplace_back();
    c.label = "n=1024", c.verdict = verdict, c.kind = kind;
    c.max_abs_error = c.max_rel_error = 0;
    return c;
  }

  krl_task c_task() const {
    krl_task task{};
    task.struct_size = sizeof task;
    task.tier = tier_;
    task.id = to_c(task_id_);
    return task;
  }
  krl_turn c_turn(const Built& built) const {
    krl_turn turn{};
    turn.struct_size = sizeof turn;
    turn.index = index();
    turn.task = &built.task;
    turn.prompt = to_c(prompt_);
    turn.answer = to_c(answer_);
    turn.thinking = to_c(thinking_);
    turn.source = to_c(source_);
    turn.tokens = {tokens_.data(), tokens_.size()};
    turn.format = format_;
    turn.stop_reason = stop_reason_;
    turn.evaluation = built.evaluation.c();
    turn.previous = previous_ ? previous_->c() : nullptr;
    return turn;
  }
  std::uint32_t index() const { return previous_ ? previous_->index() + 1 : 0; }

  std::string prompt_, answer_, thinking_, source_, task_id_ = "task";
  std::uint32_t tier_ = 0, format_ = KRL_FORMAT_EXACT, stop_reason_ = KRL_STOP_END;
  std::vector<std::int32_t> tokens_;
  Evaluation evaluation_;
  std::shared_ptr<TurnBuilder> previous_;
  mutable std::shared_ptr<Built> built_;  // belongs to the last c()
};

}  // namespace krl::testing
