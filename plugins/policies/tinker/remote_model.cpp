#include "plugins/policies/tinker/remote_model.hpp"

#include <cstdio>
#include <random>

#include "plugins/policies/tinker/checkpoint.hpp"

namespace krl::tinker {
namespace {

// A name that no checkpoint has yet: of two runs of one plan, too.
std::string checkpoint_name(std::uint64_t version) {
  char name[64];
  std::snprintf(name, sizeof name, "kernelrl-%06llu-%08x", static_cast<unsigned long long>(version),
                std::random_device{}());
  return name;
}

}  // namespace

RemoteModel::RemoteModel(RemoteModelOptions options, policies::ChatTokenizer chat,
                         const Context& call)
    : options_(std::move(options)),
      chat_(std::move(chat)),
      session_(options_.service,
               Patience::of(options_.start_timeout, [call] { return call.cancelled(); })),
      reference_(session_, options_.sampling.in_flight) {
  SamplingOptions& sampling = options_.sampling;
  if (sampling.context == 0) sampling.context = session_.context();
  if (sampling.vocabulary == 0) sampling.vocabulary = chat_.tokenizer().vocabulary();
  options_.training.gradients = options_.gradients.value_or(session_.kind().gradients);
  sampling_ = std::make_unique<Sampling>(session_, chat_, sampling, [this] { return sampler(); });
}

RemoteModel::~RemoteModel() {
  if (training_) unload(model_);
}

std::uint64_t RemoteModel::published_version() const {
  const std::shared_ptr<Sampler> published = sampler();
  return published ? published->version : 0;
}

void RemoteModel::sample(const Requests& requests, const SampleSink& sink, const Context& call) {
  be_ready_to_sample(call);
  sampling_->sample(requests, sink, call);
}

void RemoteModel::sample_stream(const RequestSource& source, const SampleSink& sink,
                                const Context& call) {
  be_ready_to_sample(call);
  sampling_->sample_stream(source, sink, call);
}

std::vector<std::vector<float>> RemoteModel::logprobs(const Examples& examples,
                                                      const Context& call) {
  const std::lock_guard lock(learning_);
  return training(call).logprobs(copy_examples(examples, limits()), call);
}

void RemoteModel::forward_backward(const policies::LossOptions& loss, const Examples& examples,
                                   bool last_of_step, const Context& call) {
  std::vector<LearnedExample> learned = copy_examples(examples, loss, limits());
  const std::lock_guard lock(learning_);
  if (loss.kl > 0) {
    session_.loop().run([&](Yield yield) { reference_.complete(learned, patience(call), yield); });
  }
  training(call).forward_backward(loss, std::move(learned), last_of_step, call);
}

void RemoteModel::optimizer_step(const krl_optimizer& optimizer, const Context& call) {
  const std::lock_guard lock(learning_);
  if (optimizer.grad_clip > 0 && !kind().clips_gradients && !told_of_clipping_) {
    call.warning(kind().name + " does not clip gradients: learn.optimizer.grad_clip = " +
                 std::to_string(optimizer.grad_clip) + " has no effect");
    told_of_clipping_ = true;
  }
  training(call).optimizer_step(optimizer, call);
  ++version_;
}

std::uint64_t RemoteModel::publish(const Context& call) {
  const std::lock_guard lock(learning_);
  publish_locked(call);
  return version_;
}

void RemoteModel::publish_locked(const Context& call) {
  const std::shared_ptr<Sampler> present = sampler();
  if (present && present->version == version_) return;
  if (!training(call).broken().empty()) throw Failure(KRL_FAILED_PRECONDITION, training_->broken());
  set_sampler(session_.loop().run([&](Yield yield) {
    return session_.create_sampler(model_, version_, patience(call), yield);
  }));
}

// A sampler of SkyRL's shares its memory with the model: if asked for samples after the model has
// learned, it would sample from other weights, or put its own back into the model.
void RemoteModel::be_ready_to_sample(const Context& call) {
  if (sampler() && kind().keeps_samplers) return;
  const std::lock_guard lock(learning_);
  if (!sampler()) publish_locked(call);
  if (kind().keeps_samplers) return;
  if (sampler()->version != version_ || (training_ && training_->has_gradient())) {
    throw Failure(
        KRL_FAILED_PRECONDITION,
        kind().name + " cannot sample with earlier weights than the model's; publish them first");
  }
}

void RemoteModel::save(std::string_view directory, const Context& call) {
  const std::lock_guard lock(learning_);
  const Training& training = this->training(call);
  if (!training.broken().empty()) throw Failure(KRL_FAILED_PRECONDITION, training.broken());
  if (training.has_gradient()) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  "cannot save between forward_backward and optimizer_step: the gradient would be "
                  "lost");
  }
  const auto submission = [&] {
    const SaveWeights request{model_.id, checkpoint_name(version_), model_.next_seq_id++};
    return Submission{SaveWeights::kPath, to_json(request)};
  };
  const SavedWeights saved = session_.loop().run([&](Yield yield) {
    return session_.create<SavedWeights>(submission, patience(call), yield);
  });
  const ServiceOptions& service = options_.service;
  write_checkpoint(directory, {saved.path, service.base_model, service.lora.rank, version_});
}

void RemoteModel::load(std::string_view directory, const Context& call) {
  const std::lock_guard lock(learning_);
  const Checkpoint checkpoint = read_checkpoint(directory);
  const ServiceOptions& service = options_.service;
  if (checkpoint.base_model != service.base_model || checkpoint.lora_rank != service.lora.rank) {
    throw Failure(KRL_FAILED_PRECONDITION,
                  std::string(directory) + " is of " + checkpoint.base_model +
                      " with LoRA of rank " + std::to_string(checkpoint.lora_rank) +
                      ", and the plan has " + service.base_model + " with rank " +
                      std::to_string(service.lora.rank) + "; change it back, or start a new run");
  }
  Model loaded = load_model(checkpoint.path, call);
  if (training_) unload(model_);
  model_ = std::move(loaded);
  training_ = std::make_unique<Training>(session_, model_, options_.training);
  version_ = std::max(version_, checkpoint.version);
  set_sampler(nullptr);
}

Model RemoteModel::load_model(const std::string& path, const Context& call) {
  const Patience patience = this->patience(call);
  Model model =
      session_.loop().run([&](Yield yield) { return session_.create_model(patience, yield); });
  const LoadWeights request{model.id, model.next_seq_id++, path};
  try {
    session_.loop().run([&](Yield yield) {
      session_.futures().submit_and_wait<Done>({LoadWeights::kPath, to_json(request)}, patience,
                                               yield);
    });
  } catch (const std::exception&) {
    unload(model);
    throw;
  }
  return model;
}

void RemoteModel::forget(std::string_view directory, const Context& call) {
  const Checkpoint checkpoint = read_checkpoint(directory);
  const bool deleted = session_.loop().run([&](Yield yield) {
    return session_.delete_checkpoint(checkpoint.path, patience(call), yield);
  });
  if (!deleted) call.info("the service keeps " + checkpoint.path);
}

Training& RemoteModel::training(const Context& call) {
  note_heartbeat(call);
  if (!training_) {
    model_ = session_.loop().run(
        [&](Yield yield) { return session_.create_model(patience(call), yield); });
    training_ = std::make_unique<Training>(session_, model_, options_.training);
  }
  return *training_;
}

// Tries, no more: a service that is not there any longer has nothing to free.
void RemoteModel::unload(const Model& model) noexcept {
  try {
    session_.loop().run([&](Yield yield) {
      session_.unload_model(model, Patience::of(std::chrono::seconds(5)), yield);
    });
  } catch (const std::exception&) {
  }
}

void RemoteModel::note_heartbeat(const Context& call) {
  const std::string trouble = session_.heartbeat_trouble();
  if (!trouble.empty() && trouble != told_heartbeat_trouble_)
    call.warning("the session's heartbeat fails: " + trouble);
  told_heartbeat_trouble_ = trouble;
}

Patience RemoteModel::patience(const Context& call) const {
  return patience_of(call, options_.training.timeout);
}

std::shared_ptr<Sampler> RemoteModel::sampler() const {
  const std::lock_guard lock(sampler_mutex_);
  return sampler_;
}

void RemoteModel::set_sampler(std::shared_ptr<Sampler> sampler) {
  const std::lock_guard lock(sampler_mutex_);
  sampler_ = std::move(sampler);
}

}  // namespace krl::tinker
