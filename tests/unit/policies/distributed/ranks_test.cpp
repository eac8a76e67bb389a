// Several ranks against one: the same answers, the same gradient, the same training; checkpoints of
// any number of ranks; ranks that are lost. Torch is used in child processes alone.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "distributed/call_rows.hpp"
#include "distributed/directory_copy.hpp"
#include "distributed/rank_group.hpp"
#include "distributed/rank_policies.hpp"
#include "distributed/sharing.hpp"
#include "storage/file.hpp"
#include "tests/unit/policies/distributed/rank_processes.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tiny_model.hpp"
#include "training/examples.hpp"

namespace krl::libtorch {
namespace {

using namespace krl::test;
namespace fs = std::filesystem;
using testing::HasSubstr;

EngineOptions options_of(const RankEnvironment& ranks, double timeout_s = 60) {
  EngineOptions options = tiny_options(/*threads=*/1);
  options.ranks = ranks;
  options.ranks_timeout_s = timeout_s;
  return options;
}

// Runs `experiment` with the policy of `size` ranks, on rank 0; the others follow.
void with_policy(int size, const std::function<void(TrainablePolicy&)>& experiment) {
  run_ranks(size, [&](const RankEnvironment& ranks) {
    const auto policy = create_policy(options_of(ranks), make_cpu_device);
    const RecordingContext context;
    if (ranks.rank > 0) return policy->follow(context);
    experiment(*policy);
  });
}

void fit(TrainablePolicy& policy) {
  const RecordingContext context;
  const std::string text = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n)\n";
  const std::vector<krl_str> texts = {to_c(text), to_c(text)};
  policy.fit(texts, 8, context);
}

std::vector<KeptSample> kept(const SampleCollector& collector) {
  std::vector<KeptSample> samples;
  for (const auto& [key, sample] : collector.samples) samples.push_back(sample);
  return samples;
}

std::vector<KeptSample> sample(TrainablePolicy& policy, std::uint64_t seed) {
  const RecordingContext context;
  RequestList requests;
  for (std::uint64_t i = 0; i < 3; ++i) {
    requests.add({.prompt = "int i", .samples = 2, .max_tokens = 20, .seed = seed + i});
  }
  requests.add({.prompt = "if (", .max_tokens = 30, .seed = seed});
  SampleCollector collector;
  policy.sample(requests, collector, context);
  return kept(collector);
}

ExampleList as_examples(const std::vector<KeptSample>& samples) {
  ExampleList examples;
  for (const KeptSample& s : samples) {
    const float advantage = s.index % 2 == 0 ? 1.0F : -0.5F;
    examples.add(
        {s.prompt_tokens, s.tokens, s.logprobs, std::vector<float>(s.tokens.size(), advantage)});
  }
  return examples;
}

// One optimiser step with everything that ranks must agree on; its figures.
std::map<std::string, double> learn(TrainablePolicy& policy,
                                    const std::vector<KeptSample>& samples) {
  const RecordingContext context;
  const LossSpec loss("ppo", 100, {{"kl", 0.1}, {"tis", 2}, {"entropy", 0.01}});
  policy.forward_backward(loss, as_examples(samples), context);
  policy.optimizer_step(adamw(1e-3), context);
  return context.metrics;
}

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
    const std::string text = read_file(path());
    return text.substr(0, text.find("numbers"));
  }
  std::vector<double> numbers() const {
    const std::string text = read_file(path());
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

// Saves in the middle of a run on some ranks, continues there and on others, and compares.
class Checkpoints : public testing::TestWithParam<std::pair<int, int>> {};

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
                         testing::Values(std::pair(2, 1), std::pair(2, 3), std::pair(1, 2)));

// Each process' working directory is another, so one rank's checkpoint is not there for the other.
TEST(Ranks, GetACopyOfACheckpointThatTheyDoNotSee) {
  const TemporaryDirectory home, elsewhere;
  run_ranks(2, [&](const RankEnvironment& ranks) {
    fs::current_path(ranks.rank == 0 ? home.path() : elsewhere.path());
    if (ranks.rank == 0) {
      fs::create_directory("checkpoint");
      write_file("checkpoint/state.json", {"{}"});
      write_file("checkpoint/weights", {std::string(3 << 20, 'w')});
    }
    RankGroup group(ranks, RankTimeouts{}, "");
    for (const char* seen : {"/proc/self/cwd/checkpoint", home.path().c_str()}) {
      if (ranks.rank == 0) {
        EXPECT_TRUE(offer_directory(group, 1, seen));
        continue;
      }
      fs::path copy;
      {
        const OfferedDirectory offered(group);
        EXPECT_EQ(offered.is_copy(), seen != home.path().string());
        copy = offered.path();
        if (!offered.is_copy()) continue;
        EXPECT_EQ(read_file(copy / "state.json"), "{}");
        EXPECT_EQ(read_file(copy / "weights"), std::string(3 << 20, 'w'));
      }
      EXPECT_FALSE(fs::exists(copy)) << "it is removed";
    }
    group.sum(0);  // rank 0 stays until rank 1 has what it needs
  });
}

TEST(Ranks, NameWrongExamplesAsTheHostDoesAndDropTheGradient) {
  with_policy(2, [](TrainablePolicy& policy) {
    fit(policy);
    const RecordingContext context;
    ExampleList examples;
    examples.add({{1, 2}, {3}});
    examples.add({{1, 2}, {3, 4, 5}});
    examples.add({{1, 2}, {100000}});
    const LossSpec loss("cross_entropy", 4);
    try {
      policy.forward_backward(loss, examples, context);
      ADD_FAILURE() << "accepted";
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("example 2"));
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    }
    EXPECT_THROW(policy.optimizer_step(adamw(1e-3), context), Failure) << "there is no gradient";
    learn(policy, sample(policy, 3));
  });
}

TEST(Ranks, EndACancelledCall) {
  with_policy(2, [](TrainablePolicy& policy) {
    fit(policy);
    RecordingContext context;
    RequestList requests;
    for (std::uint64_t i = 0; i < 64; ++i) {
      requests.add({.prompt = "int " + std::to_string(i), .max_tokens = 100, .seed = i});
    }
    SampleCollector collector;
    collector.cancel_after = 3;
    collector.to_cancel = &context;
    try {
      policy.sample(requests, collector, context);
      ADD_FAILURE() << "not cancelled";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_CANCELLED);
    }
    context.is_cancelled = false;
    sample(policy, 3);  // the ranks are ready for more
  });
}

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(Ranks, SayWhoDidNotCome) {
  run_ranks(1, [](RankEnvironment ranks) {
    ranks.size = 2;
    const RankTimeouts timeouts{std::chrono::seconds(1), std::chrono::seconds(1)};
    EXPECT_THAT(refusal([&] { RankGroup(ranks, timeouts, ""); }),
                HasSubstr("rank 1 of 2 did not come within 1 s"));
    ranks.rank = 1;
    ranks.port = free_port();
    EXPECT_THAT(refusal([&] { RankGroup(ranks, timeouts, ""); }),
                HasSubstr("rank 0 does not answer at 127.0.0.1:" + std::to_string(ranks.port)));
  });
}

TEST(Ranks, MustHaveTheSameOptions) {
  run_ranks(2, [](const RankEnvironment& ranks) {
    EXPECT_THAT(refusal([&] { RankGroup(ranks, RankTimeouts{}, std::to_string(ranks.rank)); }),
                HasSubstr("has other options of the policy than rank"));
    // Both have met the other's options before either ends.
    std::this_thread::sleep_for(std::chrono::seconds(ranks.rank == 0 ? 2 : 0));
  });
}

// Rank 1 is hit while rank 0 uses the policy again and again; rank 0 then says so.
class LostRank : public testing::TestWithParam<int> {};

TEST_P(LostRank, IsNamedByTheOthers) {
  const TemporaryDirectory directory;
  const fs::path words = directory.path() / "words", started = directory.path() / "started";
  RankProcesses processes(3, [&](const RankEnvironment& ranks) {
    const auto policy = create_policy(options_of(ranks, /*timeout_s=*/2), make_cpu_device);
    const RecordingContext context;
    const std::string why = refusal([&] {
      if (ranks.rank > 0) return policy->follow(context);
      fit(*policy);
      for (std::uint64_t i = 0;; ++i) {
        learn(*policy, sample(*policy, i));
        if (i == 1) write_file(started, {""});
      }
    });
    write_file(words.string() + std::to_string(ranks.rank), {why});
  });
  while (!fs::exists(started)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  processes.send(1, GetParam());
  EXPECT_EQ(processes.wait(0), 0);
  EXPECT_EQ(processes.wait(2), 0);
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string name = "rank 1 (host " + std::string(host) + ", process " +
                           std::to_string(processes.pid(1)) + ") is lost";
  EXPECT_THAT(read_file(words.string() + "0"), HasSubstr(name));
  EXPECT_THAT(read_file(words.string() + "2"), HasSubstr(name));
}

INSTANTIATE_TEST_SUITE_P(Signals, LostRank, testing::Values(SIGKILL, SIGSTOP),
                         [](const auto& info) {
                           return info.param == SIGKILL ? "Killed" : "Stopped";
                         });

}  // namespace
}  // namespace krl::libtorch
