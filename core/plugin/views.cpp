#include "core/plugin/views.hpp"

#include "core/plugin/text.hpp"

namespace krl {
namespace {

krl_diagnostic view_of(const Diagnostic& d) {
  return {sizeof(krl_diagnostic), d.severity, d.line, d.column, borrow(d.code), borrow(d.text)};
}

krl_kernel view_of(const KernelRecord& k) {
  return {sizeof(krl_kernel), 0,
          borrow(k.name),     borrow(k.arch),
          k.registers,        k.spill_bytes,
          k.stack_bytes,      k.shared_bytes,
          k.max_threads,      k.blocks_per_sm,
          k.occupancy,        borrow(k.occupancy_limiter)};
}

krl_f64s borrow_samples(const std::vector<double>& samples) {
  return {samples.data(), samples.size()};
}

krl_case view_of(const CaseRecord& c) {
  return {sizeof(krl_case),
          static_cast<std::uint32_t>(c.verdict),
          borrow(c.label),
          c.holdout ? 1u : 0u,
          c.estimated ? 1u : 0u,
          c.max_abs_error,
          c.max_rel_error,
          c.speedup,
          c.speedup_low,
          c.speedup_high,
          c.time_ns,
          c.baseline_ns,
          borrow_samples(c.samples_ns),
          borrow_samples(c.baseline_samples_ns),
          borrow(c.detail)};
}

krl_value view_of(const Value& v) {
  return {sizeof(krl_value), v.case_index, borrow(v.name), borrow(v.unit), v.value};
}

template <class C, class T>
void fill(std::vector<C>& rows, std::vector<const C*>& pointers, const std::vector<T>& values) {
  rows.reserve(values.size());
  for (const T& value : values) rows.push_back(view_of(value));
  for (const C& row : rows) pointers.push_back(&row);
}

}  // namespace

krl_task view_of(const Task& task) {
  return {sizeof(krl_task),   task.tier,           borrow(task.id),
          borrow(task.title), borrow(task.prompt), borrow(task.definition_json)};
}

EvaluationView::EvaluationView(const Evaluation& e) {
  fill(diagnostics_, diagnostic_pointers_, e.diagnostics);
  fill(kernels_, kernel_pointers_, e.kernels);
  fill(cases_, case_pointers_, e.cases);
  fill(values_, value_pointers_, e.values);
  c_ = {sizeof(krl_evaluation),
        static_cast<std::uint32_t>(e.verdict),
        borrow(e.why),
        borrow(e.backend),
        borrow(e.toolchain),
        borrow(e.device),
        borrow(e.compile_log),
        diagnostic_pointers_.data(),
        diagnostic_pointers_.size(),
        kernel_pointers_.data(),
        kernel_pointers_.size(),
        case_pointers_.data(),
        case_pointers_.size(),
        value_pointers_.data(),
        value_pointers_.size()};
}

}  // namespace krl
