// What bfloat16 changes on a GPU: a model in bfloat16 against itself in float32, for the tokens of
// a file; bench/hf_noise.py says the same of transformers.
//   noise_bench MODEL_DIRECTORY [FILE]
// FILE is a JSON object with an array `prompts` of objects with the token ids `prompt` and
// `answer`; else the 200 prompts of tests/unit/policies/data/smollm2_greedy.json, from the root of
// the checkout. Compared are the predictions of the answers' tokens: logits (the absolute
// difference), the log-probability of the token that comes (likewise), KL(float32 || bfloat16) in
// nats, and how often another token is the likeliest. Then the generator answers the same prompts
// in bfloat16, and the log-probabilities that it recorded are compared with those that a forward
// pass gives its tokens, in bfloat16 and in float32, and those with one another.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"
#include "plugins/policies/libtorch/generation/cuda/cuda_generator.hpp"
#include "plugins/policies/libtorch/model/cuda/operations.hpp"
#include "plugins/policies/libtorch/model/llama.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "tests/unit/policies/packed_sequence.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace {

using namespace krl;
using namespace krl::libtorch;
using Tokens = std::vector<std::int32_t>;

struct Sequence {
  Tokens prompt, answer;
};

std::vector<Sequence> read_sequences(const std::string& path) {
  std::ifstream file(path);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) invalid_argument("cannot read " + path);
  std::vector<Sequence> sequences;
  for (const auto& entry : json.at("prompts")) {
    sequences.push_back({entry.at("prompt").get<Tokens>(), entry.at("answer").get<Tokens>()});
  }
  return sequences;
}

// Mean and largest of absolute differences.
class Differences {
 public:
  void add(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor difference = (a - b).abs();
    sum_ += difference.sum(at::kDouble).item<double>();
    largest_ = std::max(largest_, difference.max().item<double>());
    count_ += static_cast<double>(difference.numel());
  }
  double mean() const { return sum_ / count_; }
  double largest() const { return largest_; }
  double count() const { return count_; }

 private:
  double sum_ = 0, largest_ = 0, count_ = 0;
};

// The logits that predict the tokens of the answer, in float32: [answer, vocabulary].
at::Tensor predictions(Trainer& trainer, const Sequence& sequence) {
  const at::NoGradGuard no_grad;
  const Operations& operations = trainer.operations();
  Tokens tokens = sequence.prompt;
  tokens.insert(tokens.end(), sequence.answer.begin(), sequence.answer.end() - 1);
  PackedBatch batch = packed_sequence(tokens, operations.device());
  const auto answer = static_cast<std::int64_t>(sequence.answer.size());
  batch.predicting = batch.positions.narrow(0, batch.longest - answer, answer);
  const auto parameters = trainer.parameters();
  const auto hidden =
      last_hidden(operations, parameters, angle_table(operations, trainer.type()), batch);
  return at::mm(hidden, parameters.head.value.t()).to(at::kFloat);
}

void compare_forward(Trainer& fine, Trainer& coarse, const std::vector<Sequence>& sequences) {
  Differences logits, logprobs;
  double divergence = 0, others = 0;
  for (const Sequence& sequence : sequences) {
    const at::Tensor expected = predictions(fine, sequence), got = predictions(coarse, sequence);
    const at::Tensor chosen = at::tensor(sequence.answer).to(got.device(), at::kLong).unsqueeze(1);
    const at::Tensor p = at::log_softmax(expected, 1), q = at::log_softmax(got, 1);
    logits.add(expected, got);
    logprobs.add(p.gather(1, chosen), q.gather(1, chosen));
    divergence += (p.exp() * (p - q)).sum(at::kDouble).item<double>();
    others += expected.argmax(1).ne(got.argmax(1)).sum().item<double>();
  }
  std::printf(
      "kernelrl, bfloat16 against float32, %.0f tokens: logits mean %.4f max %.3f, log-probability "
      "of the token mean %.5f max %.4f, KL mean %.2e, another likeliest token %.2f %%\n",
      logprobs.count(), logits.mean(), logits.largest(), logprobs.mean(), logprobs.largest(),
      divergence / logprobs.count(), 100 * others / logprobs.count());
}

std::vector<GeneratedSample> generate(Trainer& trainer, const std::vector<Sequence>& sequences) {
  constexpr std::int64_t kNewTokens = 64;
  std::vector<GenerationRequest> requests;
  for (const Sequence& sequence : sequences) {
    GenerationRequest& request = requests.emplace_back();
    request.prompt = sequence.prompt;
    request.max_tokens = kNewTokens;
    request.seed = requests.size();
  }
  const TokenTexts texts{[](TokenId) { return std::string_view(); }, {}};
  const auto generator =
      make_cuda_generator(trainer.layout().config, trainer.parameters(), texts, {});
  std::vector<GeneratedSample> samples;
  generator->run(
      requests, [&](const GeneratedSample& sample) { samples.push_back(sample); }, [] {});
  return samples;
}

// What a forward pass says of the sampled tokens: [samples, tokens].
at::Tensor forward_logprobs(Trainer& trainer, const std::vector<Sequence>& sequences,
                            const std::vector<GeneratedSample>& samples) {
  test::ExampleList examples;
  for (const GeneratedSample& sample : samples) {
    examples.add({sequences[sample.request].prompt, sample.tokens});
  }
  test::LogprobCollector forward;
  test::RecordingContext context;
  trainer.logprobs(1, examples, forward, context);
  std::vector<at::Tensor> rows;
  for (const auto& [example, logprobs] : forward.logprobs) rows.push_back(at::tensor(logprobs));
  return at::stack(rows);
}

void say_logprobs(const char* what, const at::Tensor& a, const at::Tensor& b) {
  Differences logprobs;
  logprobs.add(a, b);
  std::printf("kernelrl, %s, %.0f tokens: log-probability of the token mean %.5f max %.4f\n", what,
              logprobs.count(), logprobs.mean(), logprobs.largest());
}

void compare_sampler(Trainer& fine, Trainer& coarse, const std::vector<Sequence>& sequences) {
  const std::vector<GeneratedSample> samples = generate(coarse, sequences);
  std::vector<at::Tensor> rows;
  for (const GeneratedSample& sample : samples) rows.push_back(at::tensor(sample.logprobs));
  const at::Tensor recorded = at::stack(rows);
  const at::Tensor in_bfloat16 = forward_logprobs(coarse, sequences, samples);
  const at::Tensor in_float32 = forward_logprobs(fine, sequences, samples);
  say_logprobs("sampled in bfloat16 against a forward pass in bfloat16", recorded, in_bfloat16);
  say_logprobs("sampled in bfloat16 against a forward pass in float32", recorded, in_float32);
  say_logprobs("of these tokens a forward pass in bfloat16 against one in float32", in_bfloat16,
               in_float32);
}

int run(const std::string& directory, const std::string& file) {
  const std::vector<Sequence> sequences = read_sequences(file);
  HuggingFaceModel model = load_hugging_face_model(directory);
  constexpr std::int64_t kContext = 1024;  // enough, and the generator's cache stays small
  model.config.context = std::min(model.config.context, kContext);
  const ParameterLayout layout(model.config);
  WorkerThreads threads(1, [] {});
  const auto trainer = [&](at::ScalarType type) {
    return Trainer(layout, model.weights, make_cuda_operations(model.config, type),
                   {.compute = type, .micro_batch_tokens = 8192}, threads);
  };
  Trainer fine = trainer(at::kFloat), coarse = trainer(at::kBFloat16);
  compare_forward(fine, coarse, sequences);
  compare_sampler(fine, coarse, sequences);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: noise_bench MODEL_DIRECTORY [FILE]\n");
    return 2;
  }
  try {
    return run(argv[1], argc > 2 ? argv[2] : "tests/unit/policies/data/smollm2_greedy.json");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "noise_bench: %s\n", error.what());
    return 1;
  }
}
