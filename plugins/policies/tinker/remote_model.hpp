// A model at a service, behind the boundary's primitives: the weights in training, those that were
// published and sample, and their checkpoints. sample() and sample_stream() may overlap the others
// if the service keeps_samplers; otherwise one call at a time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "plugins/policies/tinker/reference.hpp"
#include "plugins/policies/tinker/sampling.hpp"
#include "plugins/policies/tinker/training.hpp"

namespace krl::tinker {

struct RemoteModelOptions {
  ServiceOptions service;
  SamplingOptions sampling;            // context and vocabulary: 0 = those of service and tokenizer
  TrainingOptions training;            // gradients: as the next line says
  std::optional<Gradients> gradients;  // nothing: as the service is found to be
  http::Duration start_timeout = std::chrono::minutes(1);
};

class RemoteModel {
 public:
  // Connects to the service; the model itself is made when it is first needed. Throws Failure as
  // Session does.
  RemoteModel(RemoteModelOptions options, policies::ChatTokenizer chat, const Context& call);
  // Frees the model at the service, if that is there.
  ~RemoteModel();
  RemoteModel(const RemoteModel&) = delete;
  RemoteModel& operator=(const RemoteModel&) = delete;

  const policies::ChatTokenizer& chat() const { return chat_; }
  const ServiceKind& kind() const { return session_.kind(); }
  std::string url() const { return session_.url(); }
  std::int64_t context() const { return options_.sampling.context; }
  std::int64_t vocabulary() const { return options_.sampling.vocabulary; }
  Gradients gradients() const { return options_.training.gradients; }
  std::uint64_t published_version() const;

  void sample(const Requests& requests, const SampleSink& sink, const Context& call);
  void sample_stream(const RequestSource& source, const SampleSink& sink, const Context& call);
  std::vector<std::vector<float>> logprobs(const Examples& examples, const Context& call);
  void forward_backward(const policies::LossOptions& loss, const Examples& examples,
                        bool last_of_step, const Context& call);
  void optimizer_step(const krl_optimizer& optimizer, const Context& call);
  // Makes samplers use the model's present weights from here on; returns their version.
  std::uint64_t publish(const Context& call);
  void save(std::string_view directory, const Context& call);
  // Loads into a new model, because a service loads weights only as the first operation on one.
  void load(std::string_view directory, const Context& call);
  void forget(std::string_view directory, const Context& call);

 private:
  Training& training(const Context& call);
  Model load_model(const std::string& path, const Context& call);
  void publish_locked(const Context& call);
  void be_ready_to_sample(const Context& call);
  void unload(const Model& model) noexcept;
  void note_heartbeat(const Context& call);
  Patience patience(const Context& call) const;
  ExampleLimits limits() const { return {context(), vocabulary()}; }
  std::shared_ptr<Sampler> sampler() const;
  void set_sampler(std::shared_ptr<Sampler> sampler);

  RemoteModelOptions options_;
  const policies::ChatTokenizer chat_;
  Session session_;
  std::mutex learning_;  // held by calls that change the model or ask it: all but samples
  Model model_;
  std::unique_ptr<Training> training_;  // null before the model is made
  Reference reference_;
  std::uint64_t version_ = 0;  // version of the model's weights
  bool told_of_clipping_ = false;
  std::string told_heartbeat_trouble_;

  mutable std::mutex sampler_mutex_;
  std::shared_ptr<Sampler> sampler_;  // samples from the weights last published; null: none were
  std::unique_ptr<Sampling> sampling_;
};

}  // namespace krl::tinker
