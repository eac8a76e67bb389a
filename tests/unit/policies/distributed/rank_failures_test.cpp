// Ranks that are not alike, fail, or are lost, and calls that are wrong or end early: nobody waits
// for ever, and the one who is to blame is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <new>
#include <thread>

#include <kernelrl/broken_pipe_guard.hpp>
#include "plugins/files/file.hpp"
#include "plugins/policies/libtorch/distributed/distributed_policy.hpp"
#include "plugins/policies/libtorch/distributed/follower.hpp"
#include "tests/unit/policies/distributed/rank_training.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

using namespace krl::test;
namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

// Sampling fails on rank 1 and continues on the others until they are told to end.
struct EndlessSampler final : RankPolicy {
  explicit EndlessSampler(int its_rank) : rank(its_rank) {}

  PolicyInfo describe() override {
    PolicyInfo info;
    info.needs_corpus = true;
    return info;
  }
  void sample(const Requests&, const SampleSink&, const Context& context) override { run(context); }
  void sample_stream(const RequestSource&, const SampleSink&, const Context& context) override {
    run(context);
  }
  void run(const Context& context) const {
    if (rank == 1) throw Failure(KRL_RESOURCE_EXHAUSTED, "out of memory");
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(5))) context.throw_if_cancelled();
  }

  void tokenize(const Messages&, std::string_view, const SampleSink&, const Context&) override {}
  void logprobs(double, const Examples&, const LogprobSink&, const Context&) override {}
  void forward_backward(const Loss&, const Examples&, const Context&) override {}
  void optimizer_step(const krl_optimizer&, const Context&) override {}
  void save(std::string_view, const Context&) override {}
  void load(std::string_view, const Context&) override {}
  void drop_gradient() override {}
  void join_save() override {}

  const int rank;
};

TEST(Ranks, EndACallInWhichOneFails) {
  run_ranks(3, [](const RankEnvironment& ranks) {
    auto group = std::make_unique<RankGroup>(ranks, RankTimeouts{}, "");
    auto local = std::make_unique<EndlessSampler>(ranks.rank);
    const RecordingContext context;
    if (ranks.rank > 0) {
      return FollowerPolicy(std::move(group), std::move(local)).follow(context);
    }
    DistributedPolicy policy(std::move(group), std::move(local));
    RequestList requests;
    requests.add({.prompt = "a"});
    SampleCollector collector;
    const auto fails = AllOf(StartsWith("rank 1 ("), HasSubstr("): out of memory"));
    EXPECT_THAT(refusal([&] { policy.sample(requests, collector, context); }), fails);
    const krl_request_source none{
        sizeof none, 0, nullptr,
        [](const krl_request_source*, std::int32_t, const krl_request** out) -> krl_status {
          *out = nullptr;
          return KRL_OK;
        }};
    EXPECT_THAT(refusal([&] { policy.sample_stream(RequestSource(&none), collector, context); }),
                fails);
  });
}

// Rank 0's way to the others, on which it runs out of memory after the gradients' sum.
class ShortOfMemory final : public ShardExchange {
 public:
  explicit ShortOfMemory(RankGroup& group) : group_(group) {}
  Slice slice(std::int64_t total) const override { return group_.slice(total); }
  void reduce_scatter(const at::Tensor& flat) override { group_.reduce_scatter(flat); }
  double sum(double value) override { return group_.sum(value); }
  void all_gather(const at::Tensor&) override { throw std::bad_alloc(); }
  at::Tensor gather_on_first(const at::Tensor&, std::int64_t) override { throw std::bad_alloc(); }

 private:
  RankGroup& group_;
};

// The call fails on rank 0 while the others wait for it; all end, and know why.
void expect_all_end(const std::function<void(TrainablePolicy&)>& call) {
  run_ranks(3, [&](const RankEnvironment& ranks) {
    auto group = std::make_unique<RankGroup>(ranks, RankTimeouts{}, "");
    ShortOfMemory short_of_memory(*group);
    ShardExchange* exchange = group.get();
    if (ranks.rank == 0) exchange = &short_of_memory;
    auto local = std::make_unique<LocalPolicy>(options_of(ranks), make_cpu_device, exchange);
    const RecordingContext context;
    const auto names_rank0 =
        AllOf(StartsWith("rank 0 (host "), HasSubstr(") failed: out of memory"));
    if (ranks.rank > 0) {
      FollowerPolicy policy(std::move(group), std::move(local));
      EXPECT_THAT(refusal([&] { policy.follow(context); }), names_rank0);
      return;
    }
    DistributedPolicy policy(std::move(group), std::move(local));
    fit(policy);
    try {
      call(policy);
      ADD_FAILURE() << "it continues";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_RESOURCE_EXHAUSTED) << failure.what();
      EXPECT_STREQ(failure.what(), "out of memory");
    }
    EXPECT_THAT(refusal([&] { sample(policy, 1); }), names_rank0) << "there are no ranks any more";
  });
}

TEST(Ranks, EndWhenRank0FailsInAStep) {
  expect_all_end([](TrainablePolicy& policy) { learn(policy, sample(policy, 1)); });
}

TEST(Ranks, EndWhenRank0FailsInASave) {
  const TemporaryDirectory directory;
  expect_all_end(
      [&](TrainablePolicy& policy) { policy.save(directory.path().string(), RecordingContext()); });
}

TEST(Ranks, SayWhoDidNotCome) {
  run_ranks(1, [](RankEnvironment ranks) {
    ranks.size = 2;
    const RankTimeouts timeouts{std::chrono::seconds(1), std::chrono::seconds(1)};
    EXPECT_THAT(refusal([&] { RankGroup(ranks, timeouts, ""); }),
                HasSubstr("rank 1 of 2 did not connect within 1 s"));
    ranks.rank = 1;
    ranks.port = free_port();
    EXPECT_THAT(refusal([&] { RankGroup(ranks, timeouts, ""); }),
                HasSubstr("rank 0 does not answer at 127.0.0.1:" + std::to_string(ranks.port)));
  });
}

// Rank 2 has other options; all say so.
void expect_named(const std::function<void(EngineOptions&)>& change, const std::string& theirs,
                  const std::string& own) {
  run_ranks(3, [&](const RankEnvironment& ranks) {
    EngineOptions options = options_of(ranks);
    options.lora.emplace();
    if (ranks.rank == 2) change(options);
    const std::string why = refusal([&] { create_policy(options, make_cpu_device); });
    const std::string differs = ") has different policy options from rank ";
    if (ranks.rank == 2) {
      EXPECT_THAT(why, AllOf(StartsWith("rank 0 (host "), HasSubstr(differs + "2 (" + own)));
    } else {
      const std::string number = std::to_string(ranks.rank);
      EXPECT_THAT(why,
                  AllOf(StartsWith("rank 2 (host "), HasSubstr(differs + number + " (" + theirs)));
    }
  });
}

TEST(Ranks, MustHaveTheSameOptions) {
  expect_named([](EngineOptions& options) { options.critic = CriticOptions{}; },
               "critic = true, not critic = false); give", "critic = false, not critic = true)");
  expect_named([](EngineOptions& options) { options.lora->targets = {"q_proj"}; },
               "lora.targets = [\"q_proj\"], not lora.targets = [\"q_proj\",\"k_proj\"",
               "lora.targets = [\"q_proj\",\"k_proj\"");
  expect_named([](EngineOptions& options) { options.lora.reset(); },
               "lora.rank = 0, not lora.rank = 16)", "lora.rank = 16, not lora.rank = 0)");
  expect_named([](EngineOptions& options) { options.date = "1 Jan 2025\n"; },
               "model.date = \"1 Jan 2025\\n\", not model.date", "model.date = \"26 Jul 2024\"");
  expect_named([](EngineOptions& options) { options.model.layers = 3; },
               "model.num_hidden_layers = 3, not", "model.num_hidden_layers = 2, not");
}

TEST(Ranks, MayHaveOtherNumbersOfThreads) {
  run_ranks(2, [](const RankEnvironment& ranks) {
    EngineOptions options = options_of(ranks);
    options.threads = 1 + ranks.rank;
    const auto policy = create_policy(options, make_cpu_device);
    const RecordingContext context;
    if (ranks.rank > 0) return policy->follow(context);
    EXPECT_THAT(policy->describe().description, HasSubstr("2 ranks"));
  });
}

// Rank 1 is hit while rank 0 uses the policy again and again; rank 0 then says so.
class LostRank : public ::testing::TestWithParam<int> {};

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
        if (i == 1) files::write_file(started, {""});
      }
    });
    files::write_file(words.string() + std::to_string(ranks.rank), {why});
  });
  while (!fs::exists(started)) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  processes.send(1, GetParam());
  EXPECT_EQ(processes.wait(0), 0);
  EXPECT_EQ(processes.wait(2), 0);
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string name = "rank 1 (host " + std::string(host) + ", process " +
                           std::to_string(processes.pid(1)) + ") is lost";
  EXPECT_THAT(files::read_file(words.string() + "0"), HasSubstr(name));
  EXPECT_THAT(files::read_file(words.string() + "2"), HasSubstr(name));
}

INSTANTIATE_TEST_SUITE_P(Signals, LostRank, ::testing::Values(SIGKILL, SIGSTOP),
                         [](const auto& info) {
                           return info.param == SIGKILL ? "Killed" : "Stopped";
                         });

// Whether a thread of this process holds SIGPIPE back.
bool holds_broken_pipes(const std::string& thread) {
  const std::string status = files::read_file("/proc/self/task/" + thread + "/status");
  const std::string held = status.substr(status.find("SigBlk:") + 7, 18);
  return (std::stoull(held, nullptr, 16) >> (SIGPIPE - 1) & 1) != 0;
}

// Gloo's write to a rank that is gone would else end the writer, now and then.
TEST(Ranks, AreNotEndedByABrokenPipe) {
  const TemporaryDirectory directory;
  const fs::path looked = directory.path() / "looked";
  run_ranks(2, [&](const RankEnvironment& ranks) {
    RankGroup group(ranks, RankTimeouts{}, "");
    const std::string main = std::to_string(::getpid());
    for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
      const std::string number = thread.path().filename().string();
      EXPECT_EQ(holds_broken_pipes(number), number != main) << number;
    }
    if (ranks.rank == 1) {
      while (!fs::exists(looked)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      return group.send(0, "looked");
    }
    bool held = false;
    std::jthread look([&] {
      for (int times = 0; times < 1000 && !held; ++times) {
        held = holds_broken_pipes(main);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      files::write_file(looked, {""});
    });
    EXPECT_EQ(group.receive(1), "looked");
    look.join();
    EXPECT_TRUE(held) << "while it waits for the other";
    EXPECT_FALSE(holds_broken_pipes(main)) << "afterwards";
  });
}

TEST(BrokenPipeGuard, MakesItAnError) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  {
    const BrokenPipeGuard guard;
    EXPECT_EQ(::write(ends[1], "x", 1), -1);
    EXPECT_EQ(errno, EPIPE);
  }
  ::close(ends[1]);
}

}  // namespace
}  // namespace krl::libtorch
