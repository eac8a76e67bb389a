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
          static_cast<std::uint32_t>(c.kind),
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

constexpr auto kViewOf = [](const auto& value) { return view_of(value); };

}  // namespace

krl_task view_of(const Task& task) {
  return {sizeof(krl_task),   task.tier,           borrow(task.id),
          borrow(task.title), borrow(task.prompt), borrow(task.definition_json)};
}

EvaluationView::EvaluationView(const Evaluation& e)
    : diagnostics_(e.diagnostics, kViewOf),
      kernels_(e.kernels, kViewOf),
      cases_(e.cases, kViewOf),
      values_(e.values, kViewOf),
      c_{sizeof(krl_evaluation), static_cast<std::uint32_t>(e.verdict),
         borrow(e.why),          borrow(e.backend),
         borrow(e.toolchain),    borrow(e.device),
         borrow(e.compile_log),  diagnostics_.data(),
         diagnostics_.size(),    kernels_.data(),
         kernels_.size(),        cases_.data(),
         cases_.size(),          values_.data(),
         values_.size()} {}

}  // namespace krl
