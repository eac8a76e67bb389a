// What a service and the way to it can do wrong. Each request is to be heard in the end, to happen
// once, and to delay no call beyond its deadline.
#include <gtest/gtest.h>

#include <thread>

#include "plugins/policies/tinker/training.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/tinker/fake_service.hpp"

namespace krl::tinker {
namespace {

using http::testing::answer;
using krl::test::adamw;
using krl::test::ExampleList;
using krl::test::RecordingContext;
using testing::FakeService;
using namespace std::chrono_literals;

constexpr const char* kSkyrl = R"({"name":"Tinker API Mock","version":"0.0.1"})";

class TinkerFaults : public ::testing::Test {
 protected:
  ServiceOptions service_options() const {
    ServiceOptions options;
    options.base_url = service_.url();
    options.base_model = "tiny";
    options.http.retries = {4, 1ms, 5ms};
    options.http.max_body = 1 << 16;
    options.heartbeat = 10ms;
    return options;
  }

  // A session with a model, and its training.
  struct Learner {
    Learner(const ServiceOptions& options, TrainingOptions training_options)
        : session(options, Patience::of(30s)),
          model(session.loop().run(
              [this](Yield yield) { return session.create_model(Patience::of(30s), yield); })),
          training(session, model, training_options) {}

    void learn(int examples = 2) {
      policies::LossOptions loss;
      loss.kind = policies::LossKind::kImportanceSampling;
      training.forward_backward(loss, some(examples), true, context);
      training.optimizer_step(adamw(1e-3), context);
    }

    static std::vector<LearnedExample> some(int n) {
      LearnedExample example;
      example.prompt = {5, 6};
      example.tokens = {7, 8, 9};
      example.sampled = {-1, -2, -3};
      example.advantages = {1, 1, 1};
      return std::vector<LearnedExample>(static_cast<std::size_t>(n), example);
    }

    Session session;
    Model model;
    RecordingContext context;
    Training training;
  };

  std::unique_ptr<Learner> learner(TrainingOptions options = {}) {
    return std::make_unique<Learner>(service_options(), options);
  }

  template <class Call>
  static Failure failure_of(Call&& call) {
    try {
      call();
    } catch (const Failure& failure) {
      return failure;
    }
    return Failure(KRL_OK, "");
  }

  void expect_one_step() const {
    EXPECT_EQ(service_.happened("forward_backward"), 1);
    EXPECT_EQ(service_.happened("optim_step"), 1);
    EXPECT_EQ(service_.seq_ids(), (std::vector<std::int64_t>{1, 2}));
    for (const char* path : {"forward_backward", "optim_step"}) {
      const auto bodies = service_.posted(path);
      for (const std::string& body : bodies) EXPECT_EQ(body, bodies.front()) << path;
    }
  }

  FakeService service_;
};

TEST_F(TinkerFaults, AStepIsSubmittedBeforeItsResultsAreAskedFor) {
  learner()->learn();
  expect_one_step();
  EXPECT_EQ(service_.order(),
            (std::vector<std::string>{"create_session", "create_model", "retrieve_future",
                                      "forward_backward", "optim_step", "retrieve_future",
                                      "retrieve_future"}));
}

TEST_F(TinkerFaults, MetricsComeWithTheStep) {
  const auto learning = learner();
  learning->learn();
  auto& metrics = learning->context.metrics;
  EXPECT_EQ(metrics.at("grad_norm"), 2.5);
  // θ is -1.5 throughout; shares are 1, as is the normaliser; of two examples.
  EXPECT_NEAR(metrics.at("loss"), -2 * (std::exp(-0.5) + std::exp(0.5) + std::exp(1.5)), 1e-6);
  EXPECT_NEAR(metrics.at("logprob_diff_mean"), 2 * (0.5 + 0.5 + 1.5), 1e-6);
  EXPECT_NEAR(metrics.at("logprob_diff_max"), 1.5, 1e-6);
}

// A status, at the submit of either request.
TEST_F(TinkerFaults, BusyAtTheSubmitIsTriedAgain) {
  for (const char* path : {"forward_backward", "optim_step"}) {
    for (const unsigned status : {408u, 409u, 425u, 429u, 500u, 502u, 503u, 504u, 529u}) {
      FakeService service;
      ServiceOptions options = service_options();
      options.base_url = service.url();
      Learner learning(options, {});
      service.fail(path, answer(status, "busy"));
      learning.learn();
      EXPECT_EQ(service.happened(path), 1) << path << " " << status;
      EXPECT_EQ(service.posted(path).size(), 2u) << path << " " << status;
      EXPECT_EQ(service.posted(path)[0], service.posted(path)[1]) << path << " " << status;
      EXPECT_EQ(service.seq_ids(), (std::vector<std::int64_t>{1, 2})) << path << " " << status;
    }
  }
}

TEST_F(TinkerFaults, FinalAtTheSubmit) {
  const std::map<unsigned, krl_status> codes = {
      {400, KRL_INVALID_ARGUMENT},    {401, KRL_FAILED_PRECONDITION},
      {402, KRL_FAILED_PRECONDITION}, {403, KRL_FAILED_PRECONDITION},
      {404, KRL_NOT_FOUND},           {422, KRL_INVALID_ARGUMENT}};
  const auto learning = learner();
  std::size_t posts = 0;
  for (const auto& [status, code] : codes) {
    service_.fail("forward_backward", answer(status, R"({"detail":"because"})"));
    const Failure failure = failure_of([&] { learning->learn(); });
    EXPECT_EQ(failure.code(), code) << status;
    EXPECT_NE(std::string(failure.what()).find("status " + std::to_string(status) + ": because"),
              std::string::npos)
        << failure.what();
    EXPECT_EQ(service_.posted("forward_backward").size(), ++posts) << status;
  }
  learning->learn();  // nothing had happened
  EXPECT_EQ(service_.happened("forward_backward"), 1);
  EXPECT_EQ(service_.happened("optim_step"), 1);
}

TEST_F(TinkerFaults, NotYetOrBusyAtTheResult) {
  ServiceOptions options = service_options();
  options.http.retries.most = 10;
  Learner learning(options, {});
  for (const unsigned status : {408u, 409u, 425u, 429u, 500u, 502u, 503u, 504u})
    service_.fail("retrieve_future", answer(status, "later"));
  service_.fail("retrieve_future", answer(200, R"({"type":"try_again","queue_state":"active"})"));
  service_.fail("retrieve_future", answer(408, R"({"queue_state":"paused_capacity"})"));
  learning.learn();
  expect_one_step();
  EXPECT_EQ(service_.posted("forward_backward").size(), 1u);
}

TEST_F(TinkerFaults, FinalAtTheResult) {
  for (const unsigned status : {400u, 401u, 403u, 422u}) {
    FakeService service;
    ServiceOptions options = service_options();
    options.base_url = service.url();
    Learner learning(options, {});
    service.fail("retrieve_future", answer(status, "no"));
    const Failure failure = failure_of([&] { learning.learn(); });
    EXPECT_NE(failure.code(), KRL_OK) << status;
    EXPECT_EQ(service.posted("forward_backward").size(), 1u) << status;
    // The step went out all the same: the state of the model is unknown.
    EXPECT_EQ(failure_of([&] { learning.learn(); }).code(), KRL_FAILED_PRECONDITION);
    EXPECT_EQ(service.posted("forward_backward").size(), 1u) << status;
  }
}

TEST_F(TinkerFaults, AForgottenPromiseIsSubmittedAgain) {
  const auto learning = learner();
  for (const unsigned status : {404u, 410u}) {
    service_.fail("retrieve_future", answer(status, R"({"detail":"Future not found"})"));
    learning->learn();
  }
  EXPECT_EQ(service_.posted("forward_backward").size(), 4u);
  EXPECT_EQ(service_.happened("forward_backward"), 2);
  EXPECT_EQ(service_.happened("optim_step"), 2);
  EXPECT_EQ(service_.seq_ids(), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST_F(TinkerFaults, AFailureIsTheUsersOrTriedAgain) {
  const auto learning = learner({.own_losses = false});  // log-probabilities are asked for first
  service_.fail("retrieve_future", answer(200, R"({"error":"preempted","category":"server"})"));
  service_.fail("retrieve_future", answer(200, R"({"error":"odd","category":"unknown"})"));
  learning->learn();
  EXPECT_EQ(service_.posted("forward").size(), 3u);
  EXPECT_EQ(service_.seq_ids(), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(service_.happened("optim_step"), 1);
  service_.fail("retrieve_future", answer(200, R"({"error":"too long","category":"user"})"));
  const Failure failure = failure_of([&] { learning->learn(); });
  EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
  EXPECT_NE(std::string(failure.what()).find("too long"), std::string::npos);
}

// The step has been taken without it: made now, it would be part of the next one.
TEST_F(TinkerFaults, AGradientThatFailedIsNotMadeAfterItsStep) {
  const auto learning = learner();
  service_.fail("retrieve_future", answer(200, R"({"error":"preempted","category":"server"})"));
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_UNAVAILABLE);
  EXPECT_EQ(service_.posted("forward_backward").size(), 1u);
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_FAILED_PRECONDITION);
}

TEST_F(TinkerFaults, LostAnswersHappenOnce) {
  const auto learning = learner();
  const std::string cut = http::testing::head(200, {{"Content-Length", "100"}}) + "{\"requ";
  service_.fail("forward_backward", http::testing::Script().reset(), /*acts=*/true);
  service_.fail("forward_backward", http::testing::Script().send(cut).close(), /*acts=*/true);
  service_.fail("optim_step", http::testing::Script().close(), /*acts=*/true);
  service_.fail("retrieve_future", http::testing::Script().reset());
  service_.fail("retrieve_future", http::testing::Script().send(cut).reset());
  learning->learn();
  expect_one_step();
  EXPECT_EQ(service_.posted("forward_backward").size(), 3u);
}

TEST_F(TinkerFaults, UnreadableAnswersAreAskedForAgain) {
  const auto learning = learner();
  service_.fail("forward_backward", answer(200, "{\"request_id\": "), /*acts=*/true);
  service_.fail("optim_step", answer(200, "<html>proxy</html>"), /*acts=*/true);
  service_.fail("retrieve_future", answer(200, "{\"loss_fn_outputs\":[{"));
  learning->learn();
  expect_one_step();
  for (int i = 0; i < 3; ++i) service_.fail("retrieve_future", answer(200, "{}"));
  const Failure failure = failure_of([&] { learning->learn(); });
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
  EXPECT_NE(std::string(failure.what()).find("'loss_fn_outputs' is missing"), std::string::npos)
      << failure.what();
}

TEST_F(TinkerFaults, AnEndlessAnswerIsRefused) {
  const auto learning = learner();
  service_.fail(
      "retrieve_future",
      http::testing::Script().send(http::testing::head(200)).endlessly("aaaaaaaaaaaaaaaa"));
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_RESOURCE_EXHAUSTED);
}

TEST_F(TinkerFaults, NothingTakesLongerThanItsDeadline) {
  const auto learning = learner({.timeout = 300ms});
  service_.fail("retrieve_future", http::testing::Script().hold());
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_DEADLINE_EXCEEDED);
}

TEST_F(TinkerFaults, ACancelledCallEnds) {
  const auto learning = learner();
  service_.fail("retrieve_future", http::testing::Script().hold());
  std::thread canceller([&] {
    while (service_.happened("optim_step") == 0) std::this_thread::sleep_for(1ms);
    learning->context.is_cancelled = true;
  });
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_CANCELLED);
  canceller.join();
}

// The server of a slow answer has been given up; its answer is discarded.
TEST_F(TinkerFaults, ALateAnswerIsNotTakenForAnother) {
  ServiceOptions options = service_options();
  options.http.timeouts.first_byte = 50ms;
  Learner learning(options, {});
  service_.fail("forward_backward", http::testing::Script().wait(200ms).send(
                                        http::testing::head(200, {{"Content-Length", "21"}}) +
                                        R"({"request_id":"late"})"));
  learning.learn();
  expect_one_step();
  learning.learn();
  EXPECT_EQ(service_.seq_ids(), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

TEST_F(TinkerFaults, ADoubledAnswerIsTakenOnce) {
  const auto learning = learner();
  const std::string body = R"({"loss_fn_outputs":[]})";
  const std::string stray =
      http::testing::head(200, {{"Content-Length", std::to_string(body.size())}}) + body;
  const std::string pending = R"({"type":"try_again"})";
  service_.fail("retrieve_future",
                http::testing::Script().send(
                    http::testing::head(200, {{"Content-Length", std::to_string(pending.size())}}) +
                    pending + stray));
  learning->learn();
  expect_one_step();
}

TEST_F(TinkerFaults, AServiceVanishesAndComesBack) {
  ServiceOptions options = service_options();
  options.http.retries = {200, 1ms, 20ms};
  Learner learning(options, {});
  service_.server().vanish();
  std::thread back([&] {
    std::this_thread::sleep_for(100ms);
    service_.server().come_back();
  });
  learning.learn();
  back.join();
  expect_one_step();
}

TEST_F(TinkerFaults, WhatTheServiceCountsWronglyIsAFailure) {
  const char* outputs[] = {
      R"({"loss_fn_outputs":[{"logprobs":{"data":[-1,-1,-1,-1]}}]})",
      R"({"loss_fn_outputs":[{"logprobs":{"data":[-1]}},{"logprobs":{"data":[-1,-1,-1,-1]}}]})",
      R"({"loss_fn_outputs":[{"logprobs":{"data":[-1,-1,null,-1]}},{"logprobs":{"data":[-1,-1,-1,-1]}}]})"};
  const char* whys[] = {"log-probabilities of 1 of 2 examples",
                        "1 log-probabilities for 4 target tokens",
                        "nan as the log-probability of answer token 1"};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto learning = learner();
    service_.answer_next("forward_backward", outputs[i]);
    const Failure failure = failure_of([&] { learning->learn(); });
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
    EXPECT_NE(std::string(failure.what()).find(whys[i]), std::string::npos) << failure.what();
    EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_FAILED_PRECONDITION);
  }
}

// What has been made of wrong log-probabilities never goes out.
TEST_F(TinkerFaults, NoGradientIsMadeOfWrongLogprobs) {
  const auto learning = learner({.own_losses = false});
  service_.answer_next("forward", R"({"loss_fn_outputs":[{"logprobs":{"data":[-1,-1,null,-1]}},)"
                                  R"({"logprobs":{"data":[-1,-1,-1,-1]}}]})");
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_UNAVAILABLE);
  EXPECT_EQ(service_.happened("forward_backward"), 0);
  learning->learn();  // nothing had happened
  EXPECT_EQ(service_.happened("forward_backward"), 1);
}

TEST_F(TinkerFaults, DamagedWeightsAreAFailure) {
  const auto learning = learner();
  service_.answer_next("optim_step", R"({"metrics":{"grad_norm":1e999}})");
  EXPECT_NE(failure_of([&] { learning->learn(); }).code(), KRL_OK);
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_FAILED_PRECONDITION);
}

TEST_F(TinkerFaults, LargeStepsGoInSeveralRequests) {
  const auto learning = learner({.chunk_examples = 3});
  learning->learn(7);
  EXPECT_EQ(service_.happened("forward_backward"), 3);
  EXPECT_EQ(service_.seq_ids(), (std::vector<std::int64_t>{1, 2, 3, 4}));
  std::vector<std::size_t> sizes;
  for (const std::string& body : service_.posted("forward_backward"))
    sizes.push_back(nlohmann::json::parse(body)["forward_backward_input"]["data"].size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 1}));
  EXPECT_NEAR(learning->context.metrics.at("logprob_diff_mean"), 7 * 2.5, 1e-6);

  const auto by_tokens = learner({.chunk_tokens = 11});  // of five each
  by_tokens->learn(5);
  EXPECT_EQ(service_.happened("forward_backward"), 6);
}

// ---- a service that does not know seq_ids

TEST_F(TinkerFaults, WhatMayHaveHappenedIsNotRepeatedThere) {
  service_.set_root(kSkyrl);
  const auto learning = learner();
  EXPECT_EQ(learning->session.kind().name, "SkyRL");
  service_.fail("forward_backward", http::testing::Script().reset(), /*acts=*/true);
  EXPECT_EQ(failure_of([&] { learning->learn(); }).code(), KRL_UNAVAILABLE);
  EXPECT_EQ(service_.posted("forward_backward").size(), 1u);
  const Failure failure = failure_of([&] { learning->learn(); });
  EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
  EXPECT_NE(std::string(failure.what()).find("resume from a checkpoint"), std::string::npos);
  EXPECT_EQ(service_.posted("forward_backward").size(), 1u);
}

TEST_F(TinkerFaults, WhatCannotHaveHappenedIsRepeatedThere) {
  service_.set_root(kSkyrl);
  const auto learning = learner();
  service_.fail("forward_backward", answer(503, "loading"));
  service_.fail("optim_step", answer(429, "slow down", {{"Retry-After", "0"}}));
  service_.fail("retrieve_future", http::testing::Script().reset());
  learning->learn();
  expect_one_step();
}

TEST_F(TinkerFaults, GradientsGoOutTogetherWhereTheyAreAveraged) {
  const auto learning = learner({.gradients = Gradients::kMean});
  policies::LossOptions loss;
  loss.kind = policies::LossKind::kImportanceSampling;
  learning->training.forward_backward(loss, Learner::some(2), false, learning->context);
  EXPECT_EQ(service_.happened("forward_backward"), 0);
  learning->training.forward_backward(loss, Learner::some(1), true, learning->context);
  EXPECT_EQ(service_.happened("forward_backward"), 2);
  learning->training.optimizer_step(adamw(1e-3), learning->context);
  // Each advantage times three examples and four target tokens.
  for (const std::string& body : service_.posted("forward_backward")) {
    const auto request = nlohmann::json::parse(body);
    for (const auto& datum : request["forward_backward_input"]["data"])
      EXPECT_EQ(datum["loss_fn_inputs"]["advantages"]["data"],
                nlohmann::json({0.0, 12.0, 12.0, 12.0}));
  }
}

// ---- sessions

TEST_F(TinkerFaults, TheSessionIsKeptByHeartbeats) {
  const auto learning = learner();
  while (service_.happened("session_heartbeat") < 3) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(learning->session.heartbeat_trouble(), "");
  service_.server().vanish();
  while (learning->session.heartbeat_trouble().empty()) std::this_thread::sleep_for(1ms);
  service_.server().come_back();
  while (!learning->session.heartbeat_trouble().empty()) std::this_thread::sleep_for(1ms);
}

TEST_F(TinkerFaults, AModelThatIsNotThereIsNamed) {
  ServiceOptions options = service_options();
  options.base_model = "tini";
  const Failure failure = failure_of([&] { Session(options, Patience::of(30s)); });
  EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
  EXPECT_NE(std::string(failure.what()).find("did you mean 'tiny'?"), std::string::npos);
}

TEST_F(TinkerFaults, KeysAreSentAndNeverShown) {
  ServiceOptions options = service_options();
  options.api_key = "tml-secret";
  service_.fail("create_session", answer(401, R"({"detail":"bad key tml-secret"})"));
  const Failure failure = failure_of([&] { Session(options, Patience::of(30s)); });
  EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
  EXPECT_EQ(std::string(failure.what()).find("tml-secret"), std::string::npos) << failure.what();
  EXPECT_EQ(service_.server().requests().back().header("X-API-Key"), "tml-secret");
}

}  // namespace
}  // namespace krl::tinker
