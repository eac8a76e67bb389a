// Builds the turns that a test shows to a reward.
#pragma once

#include <kernelrl/values.hpp>

#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

// A turn and its evaluation. At first: an answer in the exact form whose kernel compiled and is
// right, with nothing measured. A value type; each call of c() gives a krl_turn that lives as long
// as the builder.
class TurnBuilder {
 public:
  TurnBuilder& verdict(std::uint32_t verdict) { return verdict_ = verdict, *this; }
  TurnBuilder& passed() { return verdict(KRL_VERDICT_OK); }
  TurnBuilder& format(std::uint32_t format) { return format_ = format, *this; }
  TurnBuilder& stop_reason(std::uint32_t reason) { return stop_reason_ = reason, *this; }
  TurnBuilder& prompt(std::string text) { return prompt_ = std::move(text), *this; }
  TurnBuilder& answer(std::string text) { return answer_ = std::move(text), *this; }
  // As many tokens, whatever the text is.
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
    return add_case({KRL_VERDICT_OK, KRL_CASE_SHOWN, median, low, high});
  }
  // A case without a time.
  TurnBuilder& untimed_case(std::uint32_t verdict) {
    return add_case({verdict, KRL_CASE_SHOWN, kNone, kNone, kNone});
  }
  TurnBuilder& holdout_case(std::uint32_t verdict) {
    return add_case({verdict, KRL_CASE_HOLDOUT, kNone, kNone, kNone});
  }
  TurnBuilder& fresh_case(std::uint32_t verdict) {
    return add_case({verdict, KRL_CASE_FRESH, kNone, kNone, kNone});
  }
  TurnBuilder& kernel(int registers, int shared_bytes = -1, double occupancy = kNone) {
    return kernels_.push_back({registers, shared_bytes, occupancy}), *this;
  }
  TurnBuilder& value(std::string name, double value, int case_index = -1) {
    return values_.push_back({std::move(name), value, case_index}), *this;
  }
  TurnBuilder& warning(std::string text) {
    return diagnostic(KRL_SEVERITY_WARNING, std::move(text));
  }
  TurnBuilder& diagnostic(std::uint32_t severity, std::string text) {
    return diagnostics_.push_back({severity, std::move(text)}), *this;
  }

  const krl_turn* c() const {
    built_ = std::make_shared<Built>();
    build(*built_);
    return &built_->turn;
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  struct CaseSpec {
    std::uint32_t verdict, kind;
    double speedup, speedup_low, speedup_high;
  };
  struct KernelSpec {
    int registers, shared_bytes;
    double occupancy;
  };
  struct ValueSpec {
    std::string name;
    double value;
    int case_index;
  };
  struct DiagnosticSpec {
    std::uint32_t severity;
    std::string text;
  };
  // Structs, and the pointers to them that the boundary wants.
  template <class C>
  struct List {
    std::deque<C> items;
    std::vector<const C*> pointers;
    void add(const C& item) { pointers.push_back(&items.emplace_back(item)); }
  };
  struct Built {
    krl_task task{};
    List<krl_diagnostic> diagnostics;
    List<krl_kernel> kernels;
    List<krl_case> cases;
    List<krl_value> values;
    krl_evaluation evaluation{};
    krl_turn turn{};
  };

  TurnBuilder& add_case(CaseSpec spec) { return cases_.push_back(spec), *this; }

  void build(Built& b) const {
    for (const DiagnosticSpec& d : diagnostics_)
      b.diagnostics.add({sizeof(krl_diagnostic), d.severity, 1, 1, {}, to_c(d.text)});
    for (const KernelSpec& k : kernels_) {
      b.kernels.add({sizeof(krl_kernel),
                     0,
                     to_c("kernel"),
                     to_c("sm_90"),
                     k.registers,
                     -1,
                     -1,
                     k.shared_bytes,
                     -1,
                     -1,
                     k.occupancy,
                     {}});
    }
    for (const CaseSpec& c : cases_) b.cases.add(case_of(c));
    for (const ValueSpec& v : values_)
      b.values.add({sizeof(krl_value), v.case_index, to_c(v.name), {}, v.value});

    b.task.struct_size = sizeof b.task;
    b.task.tier = tier_;
    b.task.id = to_c(task_id_);
    b.evaluation = evaluation_of(b);
    b.turn.struct_size = sizeof b.turn;
    b.turn.index = previous_ ? previous_->index() + 1 : 0;
    b.turn.task = &b.task;
    b.turn.prompt = to_c(prompt_);
    b.turn.answer = to_c(answer_);
    b.turn.thinking = to_c(thinking_);
    b.turn.source = to_c(source_);
    b.turn.tokens = {tokens_.data(), tokens_.size()};
    b.turn.format = format_;
    b.turn.stop_reason = stop_reason_;
    b.turn.evaluation = &b.evaluation;
    b.turn.previous = previous_ ? previous_->c() : nullptr;
  }
  krl_case case_of(const CaseSpec& spec) const {
    krl_case c{};
    c.struct_size = sizeof c;
    c.verdict = spec.verdict;
    c.label = to_c("n=1024");
    c.kind = spec.kind;
    c.max_abs_error = c.max_rel_error = 0;
    c.speedup = spec.speedup;
    c.speedup_low = spec.speedup_low;
    c.speedup_high = spec.speedup_high;
    c.time_ns = 1000;
    c.baseline_ns = 1000 * spec.speedup;
    return c;
  }
  krl_evaluation evaluation_of(const Built& b) const {
    krl_evaluation e{};
    e.struct_size = sizeof e;
    e.verdict = verdict_;
    e.backend = to_c("testing");
    e.diagnostics = b.diagnostics.pointers.data();
    e.n_diagnostics = b.diagnostics.pointers.size();
    e.kernels = b.kernels.pointers.data();
    e.n_kernels = b.kernels.pointers.size();
    e.cases = b.cases.pointers.data();
    e.n_cases = b.cases.pointers.size();
    e.values = b.values.pointers.data();
    e.n_values = b.values.pointers.size();
    return e;
  }
  std::uint32_t index() const { return previous_ ? previous_->index() + 1 : 0; }

  std::string prompt_, answer_, thinking_, source_, task_id_ = "task";
  std::uint32_t tier_ = 0, verdict_ = KRL_VERDICT_OK, format_ = KRL_FORMAT_EXACT;
  std::uint32_t stop_reason_ = KRL_STOP_END;
  std::vector<std::int32_t> tokens_;
  std::vector<CaseSpec> cases_;
  std::vector<KernelSpec> kernels_;
  std::vector<ValueSpec> values_;
  std::vector<DiagnosticSpec> diagnostics_;
  std::shared_ptr<TurnBuilder> previous_;
  mutable std::shared_ptr<Built> built_;  // of the last c()
};

}  // namespace krl::testing
