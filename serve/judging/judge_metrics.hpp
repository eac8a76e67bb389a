// What a server counts and measures, for /metrics, by prometheus-cpp. Thread-safe.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <memory>
#include <string>

namespace krl::serve {

class JudgeMetrics {
 public:
  JudgeMetrics();
  ~JudgeMetrics();
  JudgeMetrics(const JudgeMetrics&) = delete;
  JudgeMetrics& operator=(const JudgeMetrics&) = delete;

  void count_request(const std::string& route, unsigned status);
  void count_verdict(Verdict verdict, double judged_s);
  void count_kept();
  void count_refused();
  void count_cancelled();
  void count_failure();  // of the infrastructure
  void observe_queued(double seconds);
  void set_waiting(std::size_t works);
  void set_connections(std::uint64_t open);

  // Prometheus's text format.
  std::string text() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace krl::serve
