// Several ranks against one: the same answers, the same gradient, the same training; checkpoints of
// any number of ranks.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/distributed/call_rows.hpp"
#include "plugins/policies/libtorch/distributed/rank_group.hpp"
#include "plugins/policies/libtorch/distributed/sharing.hpp"
#include "plugins/policies/libtorch/training/examples.hpp"
#include "tests/unit/policies/distributed/rank_training.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

using namespace krl::test;
namespace fs = std::filesystem;

std::map<std::size_t, std::vector<float>> logprobs(TrainablePolicy& policy,
                                                   const std::vector<KeptSample>& samples) {
  const RecordingContext context;
  LogprobCollector collector;
  policy.logprobs(1, as_examples(samples), collector, context);
  return collector.logprobs;
}

// What an experiment on rank 0 gives back to the test's process.
class Report {
 public:
  Report() = default;
  fs::path path() const { return directory_.path() / "report"; }

  void write(const std::vector<KeptSample>& samples, const std::vector<double>& numbers) const {
    std::ofstream file(path());
    file.precision(17);
    for (const KeptSample& s : samples) {
      file << s.request << ' ' << s.index;
      for (const std::int32_t token : s.tokens) file << ' ' << token;
      for (const float logprob : s.logprobs) file << ' ' << logprob;
      file << " version " << s.version << '\n';
    }
    file << "numbers";
    for (const double number : numbers) file << ' ' << number;
    file << '\n';
  }

  // The samples' lines.
  std::string samples() const {
    const std::string text = files::read_file(path());
    return text.substr(0, text.find("numbers"));
  }
  std::vector<double> numbers() const {
    const std::string text = files::read_file(path());
    std::istringstream line(text.substr(text.find("numbers") + 7));
    return {std::istream_iterator<double>(line), {}};
  }

 private:
  TemporaryDirectory directory_;
};

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], tolerance * (1 + std::abs(a[i]))) << i;
  }
}

// Samples, learns twice, and reports the answers, the figures and the logprobs afterwards.
void train_and_report(TrainablePolicy& policy, const Report& report) {
  fit(policy);
  const auto samples = sample(policy, 5);
  std::vector<double> numbers;
  for (int step = 0; step < 2; ++step) {
    for (const auto& [name, value] : learn(policy, samples)) numbers.push_back(value);
  }
  for (const auto& [i, values] : logprobs(policy, samples)) {
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  report.write(samples, numbers);
}

TEST(Ranks, TrainAsOneDoes) {
  const Report alone;
  with_policy(1, [&](TrainablePolicy& policy) { train_and_report(policy, alone); });
  for (const int size : {2, 3}) {
    const Report together;
    with_policy(size, [&](TrainablePolicy& policy) { train_and_report(policy, together); });
    EXPECT_EQ(together.samples(), alone.samples()) << size << " ranks";
    expect_near(together.numbers(), alone.numbers(), 1e-5);
  }
}

TEST(Ranks, AnswerAStreamAsOneDoes) {
  const auto stream = [](TrainablePolicy& policy, const Report& report) {
    fit(policy);
    const RecordingContext context;
    RequestList requests;
    for (std::uint64_t i = 0; i < 12; ++i) {
      requests.add({.prompt = i % 3 == 0 ? "int" : "if (i", .max_tokens = 24, .seed = i});
    }
    // Half of them come at once, one more after each answer.
    struct Feed {
      Requests requests;
      std::size_t allowed = 6, next = 0;
    } feed{requests};
    const krl_request_source source{
        sizeof source, 0, &feed,
        [](const krl_request_source* c, std::int32_t, const krl_request** out) -> krl_status {
          auto& f = *static_cast<Feed*>(c->ctx);
          const bool more = f.next < std::min(f.allowed, f.requests.size());
          *out = more ? f.requests[f.next++].c() : nullptr;
          return KRL_OK;
        }};
    SampleCollector collector;
    struct Sink {
      SampleSink into;
      Feed& feed;
    } sink{collector, feed};
    const krl_sample_sink counted{
        sizeof counted, 0, &sink,
        [](const krl_sample_sink* c, const krl_sample* sample) -> krl_status {
          auto& s = *static_cast<Sink*>(c->ctx);
          ++s.feed.allowed;
          s.into.put(*sample);
          return KRL_OK;
        },
        [](const krl_sample_sink* c, std::uint32_t request, krl_status status,
           krl_str why) -> krl_status {
          auto& s = *static_cast<Sink*>(c->ctx);
          ++s.feed.allowed;
          s.into.fail(request, status, view(why));
          return KRL_OK;
        }};
    policy.sample_stream(RequestSource(&source), SampleSink(&counted), context);
    report.write(kept(collector), {static_cast<double>(collector.samples.size())});
  };
  const Report alone, together;
  with_policy(1, [&](TrainablePolicy& policy) { stream(policy, alone); });
  with_policy(2, [&](TrainablePolicy& policy) { stream(policy, together); });
  EXPECT_EQ(together.numbers(), std::vector<double>{12});
  EXPECT_EQ(together.samples(), alone.samples());
}

// A trainer as a rank has it, with a part of the examples.
std::unique_ptr<Trainer> make_trainer(const ModelConfig& config, WorkerThreads& threads,
                                      ShardExchange* exchange) {
  const ParameterLayout layout(config);
  EngineOptions options;
  auto operations = make_cpu_device(options, threads)->operations(config, at::kFloat);
  TrainerOptions trainer;
  trainer.exchange = exchange;
  return std::make_unique<Trainer>(layout, initial_weights(layout, 3), std::move(operations),
                                   trainer, threads);
}

ExampleList some_examples(const ModelConfig& config) {
  ExampleList examples;
  for (std::int32_t i = 0; i < 9; ++i) {
    ExampleValues values;
    const auto token = [&](std::int32_t k) {
      return static_cast<std::int32_t>((7 * i + 13 * k) % config.vocabulary);
    };
    for (std::int32_t k = 0; k < 3 + i; ++k) values.prompt.push_back(token(k));
    for (std::int32_t k = 0; k < 5 + 3 * (i % 4); ++k) values.tokens.push_back(token(k + 50));
    values.logprobs.assign(values.tokens.size(), -5.0F);
    values.advantages.assign(values.tokens.size(), i % 2 == 0 ? 1.0F : -1.0F);
    examples.add(std::move(values));
  }
  return examples;
}

// The whole gradient, on rank 0, and how many numbers of the optimiser's state each rank has.
std::vector<double> gradient_of(int size) {
  const Report report;
  run_ranks(size, [&](const RankEnvironment& ranks) {
    std::unique_ptr<RankGroup> group;
    if (!ranks.alone()) group = std::make_unique<RankGroup>(ranks, RankTimeouts{}, "");
    const ModelConfig config = tiny_options().model;
    WorkerThreads threads(1, [] { at::set_num_threads(1); });
    const auto trainer = make_trainer(config, threads, group.get());
    const std::int64_t total = trainer->layout().total;
    EXPECT_EQ(trainer->state().first_moment.numel(),
              slice_of_rank(total, ranks.rank, ranks.size).size());
    EXPECT_EQ(trainer->state().second_moment.numel(), trainer->state().first_moment.numel());

    const ExampleList examples = some_examples(config);
    const auto shares = share_examples(example_lengths(examples), ranks.size);
    const ExamplePart part(examples, shares[static_cast<std::size_t>(ranks.rank)]);
    const RecordingContext context;
    trainer->forward_backward(parse_loss(LossSpec("ppo", 90)), part.examples(), context);
    at::Tensor gradient = trainer->gradient();
    if (group) {
      group->reduce_scatter(gradient);
      const Slice own = group->slice(total);
      gradient = group->gather_on_first(gradient.narrow(0, own.begin, own.size()), total);
    }
    if (ranks.rank > 0) return;
    const auto doubles = gradient.to(at::kDouble).contiguous();
    const double* data = doubles.const_data_ptr<double>();
    report.write({}, {data, data + doubles.numel()});
  });
  return report.numbers();
}

TEST(Ranks, HaveTheGradientOfOne) {
  const auto alone = gradient_of(1);
  double largest = 0;
  for (const double g : alone) largest = std::max(largest, std::abs(g));
  ASSERT_GT(largest, 1e-4);
  for (const int size : {2, 3}) {
    const auto together = gradient_of(size);
    ASSERT_EQ(together.size(), alone.size());
    double difference = 0;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      difference = std::max(difference, std::abs(alone[i] - together[i]));
    }
    EXPECT_LE(difference, 1e-5 * largest) << size << " ranks";
  }
}

// Two steps and what the policy is then.
void learn_twice_and_report(TrainablePolicy& policy, const std::vector<const ExampleList*>& steps,
                            const Report& report) {
  const RecordingContext context;
  const LossSpec loss("ppo", 100, {{"kl", 0.1}, {"tis", 2}});
  std::vector<double> numbers;
  for (const ExampleList* examples : steps) {
    policy.forward_backward(loss, *examples, context);
    policy.optimizer_step(adamw(1e-2), context);
    for (const auto& [name, value] : context.metrics) numbers.push_back(value);
  }
  LogprobCollector collector;
  policy.logprobs(1, *steps.back(), collector, context);
  for (const auto& [i, values] : collector.logprobs) {
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  report.write({}, numbers);
}

// With numbers of no weights that any rank has.
TEST(Ranks, LearnAsOneDoesFromGivenLogprobs) {
  const auto experiment = [](TrainablePolicy& policy, const Report& report) {
    fit(policy);
    ExampleList examples;
    const ExampleList plain = as_examples(sample(policy, 5));
    for (std::size_t i = 0; i < plain.size(); ++i) {
      ExampleValues values = plain[i];
      for (std::size_t t = 0; t < values.tokens.size(); ++t) {
        const float shift = 0.05F * static_cast<float>((i + t) % 7);
        values.old_logprobs.push_back(values.logprobs[t] - shift);
        values.reference_logprobs.push_back(values.logprobs[t] + shift / 2 - 0.3F);
      }
      examples.add(std::move(values));
    }
    learn_twice_and_report(policy, {&examples, &examples}, report);
  };
  const Report alone, together;
  with_policy(1, [&](TrainablePolicy& policy) { experiment(policy, alone); });
  with_policy(2, [&](TrainablePolicy& policy) { experiment(policy, together); });
  expect_near(together.numbers(), alone.numbers(), 1e-5);
}

// It learns from the next ones with the copies of the weights that the others have.
TEST(Ranks, WithoutExamplesKeepTheWeightsThatOthersKeep) {
  const auto experiment = [](TrainablePolicy& policy, const Report& report) {
    fit(policy);
    const ExampleList all = as_examples(sample(policy, 5));
    ExampleList one;
    one.add(all[0]);
    learn_twice_and_report(policy, {&one, &all}, report);
  };
  const Report alone, together;
  with_policy(1, [&](TrainablePolicy& policy) { experiment(policy, alone); });
  with_policy(2, [&](TrainablePolicy& policy) { experiment(policy, together); });
  expect_near(together.numbers(), alone.numbers(), 1e-5);
}

// Saves in the middle of a run on some ranks, continues there and on others, and compares.
class Checkpoints : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Checkpoints, ContinueOnAnotherNumberOfRanks) {
  const auto [before, after] = GetParam();
  const TemporaryDirectory directory;
  const std::string path = directory.path().string();
  const auto continued = [](TrainablePolicy& policy, const Report& report) {
    const auto samples = sample(policy, 77);
    std::vector<double> numbers;
    for (const auto& [name, value] : learn(policy, samples)) numbers.push_back(value);
    for (const auto& [name, value] : learn(policy, samples)) numbers.push_back(value);
    report.write(samples, numbers);
  };
  const Report uninterrupted, resumed;
  with_policy(before, [&](TrainablePolicy& policy) {
    const RecordingContext context;
    fit(policy);
    learn(policy, sample(policy, 1));
    learn(policy, sample(policy, 2));
    policy.save(path, context);
    continued(policy, uninterrupted);
  });
  with_policy(after, [&](TrainablePolicy& policy) {
    const RecordingContext context;
    policy.load(path, context);
    EXPECT_EQ(policy.describe().version, 2U);
    continued(policy, resumed);
  });
  EXPECT_EQ(resumed.samples(), uninterrupted.samples());
  expect_near(resumed.numbers(), uninterrupted.numbers(), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Checkpoints,
                         ::testing::Values(std::pair(2, 1), std::pair(2, 3), std::pair(1, 2)));

}  // namespace
}  // namespace krl::libtorch
