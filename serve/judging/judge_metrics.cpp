#include "serve/judging/judge_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace krl::serve {
namespace {

using prometheus::Registry;

template <class Builder>
auto& family(Builder builder, Registry& registry, const char* name, const char* help) {
  return builder.Name(name).Help(help).Register(registry);
}

const prometheus::Histogram::BucketBoundaries kSeconds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3,
                                                          1,     3,     10,   30,   100, 300};

}  // namespace

struct JudgeMetrics::Families {
  Registry registry;
  prometheus::Family<prometheus::Counter>& requests =
      family(prometheus::BuildCounter(), registry, "kernelrl_requests_total",
             "Requests by route and status.");
  prometheus::Family<prometheus::Counter>& evaluations =
      family(prometheus::BuildCounter(), registry, "kernelrl_evaluations_total",
             "Kernels judged, by verdict.");
  prometheus::Family<prometheus::Counter>& others =
      family(prometheus::BuildCounter(), registry, "kernelrl_orders_total",
             "Orders that were not judged: kept (known already), refused, cancelled, failed.");
  prometheus::Counter& kept = others.Add({{"end", "kept"}});
  prometheus::Counter& refused = others.Add({{"end", "refused"}});
  prometheus::Counter& cancelled = others.Add({{"end", "cancelled"}});
  prometheus::Counter& failed = others.Add({{"end", "failed"}});
  prometheus::Histogram& judged =
      family(prometheus::BuildHistogram(), registry, "kernelrl_judging_seconds",
             "Time that judging a kernel took.")
          .Add({}, kSeconds);
  prometheus::Histogram& queued =
      family(prometheus::BuildHistogram(), registry, "kernelrl_queued_seconds",
             "Time that an order waited for its turn.")
          .Add({}, kSeconds);
  prometheus::Gauge& waiting = family(prometheus::BuildGauge(), registry, "kernelrl_waiting",
                                      "Kernels that wait to be judged.")
                                   .Add({});
  prometheus::Gauge& connections = family(prometheus::BuildGauge(), registry,
                                          "kernelrl_connections", "Connections that are open.")
                                       .Add({});
};

JudgeMetrics::JudgeMetrics() : families_(std::make_unique<Families>()) {}
JudgeMetrics::~JudgeMetrics() = default;

void JudgeMetrics::count_request(const std::string& route, unsigned status) {
  families_->requests.Add({{"route", route}, {"status", std::to_string(status)}}).Increment();
}
void JudgeMetrics::count_verdict(Verdict verdict, double judged_s) {
  families_->evaluations.Add({{"verdict", std::string(name_of(verdict))}}).Increment();
  families_->judged.Observe(judged_s);
}
void JudgeMetrics::count_kept() { families_->kept.Increment(); }
void JudgeMetrics::count_refused() { families_->refused.Increment(); }
void JudgeMetrics::count_cancelled() { families_->cancelled.Increment(); }
void JudgeMetrics::count_failure() { families_->failed.Increment(); }
void JudgeMetrics::observe_queued(double seconds) { families_->queued.Observe(seconds); }
void JudgeMetrics::set_waiting(std::size_t works) {
  families_->waiting.Set(static_cast<double>(works));
}
void JudgeMetrics::set_connections(std::uint64_t open) {
  families_->connections.Set(static_cast<double>(open));
}

std::string JudgeMetrics::text() const {
  return prometheus::TextSerializer().Serialize(families_->registry.Collect());
}

}  // namespace krl::serve
