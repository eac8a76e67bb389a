// A policy in Python. What it learned is in the memory of its process: where that ends, the run ends
// and can be resumed from its last checkpoint. Used by one thread at a time.
#pragma once

#include <kernelrl/sdk.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "plugins/python_components/worker.hpp"

namespace krl::python_components {

class PythonPolicy final : public TrainablePolicy, public PythonFile {
 public:
  static constexpr auto config = PythonFile::config;

  void start(const Config& config, const Context& context) override;
  PolicyInfo describe() override;
  void sample(const Requests& requests, const SampleSink& sink, const Context& context) override;
  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context& context) override;
  void fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) override;
  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context) override;
  void forward_backward(const Loss& loss, const Examples& examples,
                        const Context& context) override;
  void optimizer_step(const krl_optimizer& optimizer, const Context& context) override;
  void save(std::string_view directory, const Context& context) override;
  void load(std::string_view directory, const Context& context) override;
  void export_weights(std::string_view directory, std::string_view format,
                      const Context& context) override;

 private:
  nlohmann::json ask(nlohmann::json request, const Context& context);
  std::optional<Worker> worker_;
};

}  // namespace krl::python_components
