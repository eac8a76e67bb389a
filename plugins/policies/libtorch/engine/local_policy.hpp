// The local policy: combines tokenizer, model, generation and training behind the boundary's
// primitives. One call at a time.
#pragma once

#include <memory>

#include "plugins/policies/libtorch/base/worker_threads.hpp"
#include "plugins/policies/libtorch/engine.hpp"
#include "plugins/policies/libtorch/engine/device.hpp"
#include "plugins/policies/libtorch/engine/rank_policy.hpp"
#include "plugins/policies/libtorch/model/stored_weights.hpp"
#include "plugins/policies/tokenizer/chat_tokenizer.hpp"

namespace krl::libtorch {

using policies::ChatTokenizer;

class ShardExchange;

class LocalPolicy final : public RankPolicy {
 public:
  // A model from a directory is read here; errors as load_hugging_face_model(), ChatTokenizer and
  // `make_device`. `exchange`: with the policies of other ranks, which learn the same; it outlives
  // this.
  explicit LocalPolicy(const EngineOptions& options, MakeDevice make_device = make_cpu_device,
                       ShardExchange* exchange = nullptr);
  ~LocalPolicy() override;

  // Before fit() or load() a policy from scratch has neither vocabulary nor weights (needs_corpus),
  // and everything but describe, save and those two is KRL_FAILED_PRECONDITION.
  PolicyInfo describe() override;
  void fit(Span<krl_str> texts, std::uint64_t seed, const Context& context) override;

  void sample(const Requests& requests, const SampleSink& sink, const Context& context) override;
  void sample_stream(const RequestSource& source, const SampleSink& sink,
                     const Context& context) override;
  void tokenize(const Messages& messages, std::string_view answer, const SampleSink& sink,
                const Context& context) override;

  void logprobs(double temperature, const Examples& examples, const LogprobSink& sink,
                const Context& context) override;
  void values(const Examples& examples, const CriticSink& sink, const Context& context) override;
  void forward_backward(const Loss& loss, const Examples& examples,
                        const Context& context) override;
  void optimizer_step(const krl_optimizer& optimizer, const Context& context) override;

  void save(std::string_view directory, const Context& context) override;
  void load(std::string_view directory, const Context& context) override;
  void export_weights(std::string_view directory, std::string_view format,
                      const Context& context) override;

  void drop_gradient() override;
  void join_save() override;

 private:
  struct Model;
  Model& model();
  std::unique_ptr<Model> make_model(const ModelConfig& config, ChatTokenizer chat,
                                    const StoredWeights& weights);

  EngineOptions options_;
  MakeDevice make_device_;
  ShardExchange* exchange_;
  WorkerThreads threads_;
  std::string config_json_;       // from the model's directory
  std::string base_;              // with adapters: the fingerprint() of its weights
  std::unique_ptr<Model> model_;  // null before fit() or load() of a model from scratch
};

}  // namespace krl::libtorch
