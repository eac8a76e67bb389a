// The plugin as a host meets it: options, versions, checkpoints.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"
#include "tests/unit/policies/tinker/fake_service.hpp"
#include "tests/unit/policies/tinker/remote_policy.hpp"

namespace krl::tinker {
namespace {

using http::testing::answer;
using krl::test::adamw;
using krl::test::RequestOptions;
using nlohmann::json;
using testing::ExampleList;
using testing::failure_of;
using testing::FakeService;
using testing::LossSpec;
using testing::RemotePolicy;
using testing::RequestList;
using testing::Table;
namespace fs = std::filesystem;

constexpr const char* kSkyrlRoot = R"({"name":"Tinker API Mock","version":"0.0.1"})";

class TinkerPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("tinker_plugin_" + std::to_string(getpid()));
    fs::create_directories(directory_ / "model");
    fs::create_directories(directory_ / "checkpoint");
    const auto chat = policies::scratch_chat_tokenizer(policies::scratch_tokenizer({}), 64);
    for (const policies::TokenizerFile& file : chat.files())
      std::ofstream(directory_ / "model" / file.name) << file.contents;
  }
  void TearDown() override {
    fs::remove_all(directory_);
    unsetenv("TINKER_API_KEY");
    unsetenv("TINKER_BASE_URL");
    unsetenv("MY_KEY");
  }

  Table options() const {
    return {{"base_url", service_.url()},
            {"base_model", "tiny"},
            {"tokenizer", (directory_ / "model").string()},
            {"chat_template", "scratch"},
            {"retries", 1}};
  }
  Table options_with(const std::string& key, krl::testing::Value value) const {
    Table table = options();
    table.insert_or_assign(key, std::move(value));
    return table;
  }
  std::string checkpoint() const { return (directory_ / "checkpoint").string(); }

  static ExampleList examples() {
    ExampleList list;
    list.add({.prompt = {5, 6},
              .tokens = {7, 8},
              .logprobs = {-1, -2},
              .advantages = {1, 1},
              .old_logprobs = {-1, -2}});
    return list;
  }
  static void learn(RemotePolicy& policy) {
    policy.forward_backward(LossSpec("ppo", 2, {{"tis", 2}}).last_of_step(), examples());
    policy.optimizer_step(adamw(1e-3));
  }
  static std::uint64_t sampled_version(RemotePolicy& policy) {
    RequestList requests;
    requests.add({.prompt = "x"});
    return policy.sample(requests).samples.at({0, 0}).version;
  }

  FakeService service_;
  fs::path directory_;
};

krl_status check_loss(const Table& options, const LossSpec& loss, std::string& why) {
  const krl_component& component = RemotePolicy::plugin().component(KRL_POLICY, "tinker");
  const krl::testing::Options checked(component, options);
  const krl::testing::Call call;
  const auto& table = *static_cast<const krl_policy_v*>(component.table);
  const krl_status status = table.check_loss(checked.config(), call.context(), loss.c());
  why = call.why;
  return status;
}

TEST_F(TinkerPlugin, SaysWhatItIsWithoutAService) {
  const krl_component& component = RemotePolicy::plugin().component(KRL_POLICY, "tinker");
  const krl::testing::Options checked(component, options_with("base_url", "http://127.0.0.1:1"));
  const krl::testing::Call call;
  const auto info = krl::testing::policy_description([&](const krl_policy_info_sink* sink) {
    call.require(static_cast<const krl_policy_v*>(component.table)
                     ->preview(checked.config(), call.context(), sink));
  });
  EXPECT_EQ(info.flags, KRL_POLICY_TRAINABLE | KRL_POLICY_HAS_TOKENS |
                            KRL_POLICY_SAMPLES_WHILE_TRAINING | KRL_POLICY_SHARES_PROMPTS |
                            KRL_POLICY_CONTINUES | KRL_POLICY_TAKES_TOKENS |
                            KRL_POLICY_HAS_LOGPROBS | KRL_POLICY_NEEDS_OLD_LOGPROBS);
  EXPECT_EQ(info.logprobs, KRL_LOGPROBS_RAW);
  EXPECT_EQ(view(info.description), "tiny, LoRA of rank 32");
}

TEST_F(TinkerPlugin, RefusesLossesBeforeTheRun) {
  std::string why;
  for (const char* loss : {"cross_entropy", "importance_sampling", "ppo", "cispo", "gspo"})
    EXPECT_EQ(check_loss(options(), LossSpec(loss, 1), why), KRL_OK) << loss << why;
  EXPECT_EQ(check_loss(options(), LossSpec("ppo", 1, {{"entropy", 0.1}}), why),
            KRL_INVALID_ARGUMENT);
  EXPECT_NE(why.find("loss.entropy"), std::string::npos);
  EXPECT_EQ(check_loss(options(), LossSpec("ppo", 1, {}, KRL_TOKEN_MEAN, 0.7), why),
            KRL_INVALID_ARGUMENT);
  EXPECT_NE(why.find("rollout.temperature = 1"), std::string::npos);
  EXPECT_EQ(check_loss(options(), LossSpec("dro", 1), why), KRL_INVALID_ARGUMENT);
}

TEST_F(TinkerPlugin, DescribesTheServiceThatItFound) {
  RemotePolicy policy(options());
  krl::testing::PolicyDescription info = policy.describe();
  EXPECT_EQ(info.context_tokens, 64);
  EXPECT_EQ(info.vocabulary, 260);
  EXPECT_TRUE(info.flags & KRL_POLICY_SAMPLES_WHILE_TRAINING);
  service_.set_root(kSkyrlRoot);
  RemotePolicy skyrl(options());
  info = skyrl.describe();
  EXPECT_FALSE(info.flags & KRL_POLICY_SAMPLES_WHILE_TRAINING);
  EXPECT_EQ(view(info.description), "tiny, LoRA of rank 32 at " + service_.url() +
                                        " (SkyRL), gradients averaged there and scaled back");
}

TEST_F(TinkerPlugin, SamplesAreOfThePublishedWeights) {
  RemotePolicy policy(options());
  EXPECT_EQ(sampled_version(policy), 0u);  // published by itself
  learn(policy);
  EXPECT_EQ(sampled_version(policy), 0u);
  EXPECT_EQ(policy.describe().version, 0u);
  EXPECT_EQ(policy.publish(), 1u);
  EXPECT_EQ(policy.publish(), 1u);  // the same once more
  EXPECT_EQ(sampled_version(policy), 1u);
  EXPECT_EQ(service_.happened("save_weights_for_sampler"), 2);
  const json last = json::parse(service_.posted("asample").back());
  EXPECT_EQ(last["sampling_session_id"], "p2");
  EXPECT_EQ(service_.seq_ids(), (std::vector<std::int64_t>{1, 2, 3, 4}));
}

// There a sampler's weights would become the model's.
TEST_F(TinkerPlugin, SkyrlNeverSamplesWithEarlierWeights) {
  service_.set_root(kSkyrlRoot);
  RemotePolicy policy(options());
  EXPECT_EQ(sampled_version(policy), 0u);
  policy.forward_backward(LossSpec("ppo", 2, {{"tis", 2}}).last_of_step(), examples());
  EXPECT_NE(failure_of([&] { sampled_version(policy); }).find("publish them first"),
            std::string::npos);
  policy.optimizer_step(adamw(1e-3));
  EXPECT_NE(failure_of([&] { sampled_version(policy); }).find("publish them first"),
            std::string::npos);
  EXPECT_EQ(policy.call().messages.back().second,
            "SkyRL does not clip gradients: learn.optimizer.grad_clip = 1.000000 has no effect");
  policy.publish();
  EXPECT_EQ(sampled_version(policy), 1u);
}

// What is new has a name or a number of its own, and may be asked for again under another.
TEST_F(TinkerPlugin, SkyrlMayMakeTwoOfWhatIsNew) {
  service_.set_root(kSkyrlRoot);
  RemotePolicy policy(options());
  service_.fail("create_model", http::testing::Script().reset(), /*acts=*/true);
  service_.fail("save_weights_for_sampler", http::testing::Script().close(), /*acts=*/true);
  policy.publish();
  EXPECT_EQ(service_.happened("save_weights_for_sampler"), 2);
  const auto samplers = service_.posted("save_weights_for_sampler");
  EXPECT_EQ(json::parse(samplers[0])["sampling_session_seq_id"], 0);
  EXPECT_EQ(json::parse(samplers[1])["sampling_session_seq_id"], 1);
  service_.fail("save_weights", answer(409, R"({"detail":"Checkpoint already exists"})"));
  policy.save(checkpoint());
  const auto saves = service_.posted("save_weights");
  EXPECT_NE(json::parse(saves[0])["path"], json::parse(saves[1])["path"]);
}

TEST_F(TinkerPlugin, LogprobsAreOfTheModel) {
  RemotePolicy policy(options());
  EXPECT_EQ(policy.logprobs(examples()).at(0),
            (std::vector<float>{FakeService::kLogprob, FakeService::kLogprob}));
  EXPECT_NE(failure_of([&] { policy.logprobs(examples(), 0.7); }).find("temperature"),
            std::string::npos);
  ExampleList outside;
  outside.add({.prompt = {5}, .tokens = {260}});
  EXPECT_NE(failure_of([&] { policy.logprobs(outside); }).find("outside the vocabulary of 260"),
            std::string::npos);
}

// The divergence from the base model, where the plan gives no other reference.
TEST_F(TinkerPlugin, TheReferenceIsTheBaseModel) {
  RemotePolicy policy(options());
  const auto loss_with = [&](std::vector<float> reference) {
    ExampleList list;
    list.add({.prompt = {5, 6},
              .tokens = {7, 8},
              .logprobs = {-1, -2},
              .advantages = {1, 1},
              .reference_logprobs = std::move(reference)});
    policy.call().metrics.clear();
    policy.forward_backward(LossSpec("ppo", 2, {{"kl", 0.5}}).last_of_step(), list);
    policy.optimizer_step(adamw(0));
    return policy.call().metrics.at("loss");
  };
  const double with_base = loss_with({});
  const json asked = json::parse(service_.posted("asample").at(0));
  EXPECT_EQ(asked["sampling_session_id"], "base");
  EXPECT_EQ(asked["prompt"]["chunks"][0]["tokens"], json({5, 6, 7, 8}));
  EXPECT_EQ(loss_with({FakeService::kLogprob, FakeService::kLogprob}), with_base);
  EXPECT_NE(loss_with({-3, -3}), with_base);
  EXPECT_EQ(service_.posted("asample").size(), 1u);
  service_.answer_next("asample", R"({"sequences":[],"prompt_logprobs":[-1,-1]})");
  EXPECT_NE(failure_of([&] { loss_with({}); }).find("2 log-probabilities for 3 target tokens"),
            std::string::npos);
  loss_with({});  // nothing had happened
}

TEST_F(TinkerPlugin, ACheckpointIsLoadedIntoANewModel) {
  {
    RemotePolicy policy(options());
    learn(policy);
    learn(policy);
    policy.save(checkpoint());
  }
  const json saved = json::parse(std::ifstream(directory_ / "checkpoint" / "tinker.json"));
  EXPECT_EQ(saved["version"], 2);
  EXPECT_EQ(saved["base_model"], "tiny");
  const std::string path = saved["path"];
  EXPECT_EQ(path.rfind("tinker://m1/weights/kernelrl-000002-", 0), 0u) << path;
  EXPECT_EQ(service_.happened("unload_model"), 1);

  RemotePolicy resumed(options());
  resumed.load(checkpoint());
  const json load = json::parse(service_.posted("load_weights").at(0));
  EXPECT_EQ(load, (json{{"model_id", "m2"},
                        {"seq_id", 1},
                        {"path", path},
                        {"optimizer", true},
                        {"type", "load_weights"}}));
  EXPECT_EQ(service_.happened("create_model"), 2);  // none but that one
  learn(resumed);
  EXPECT_EQ(resumed.publish(), 3u);

  resumed.forget(checkpoint());
  const auto requests = service_.server().requests();
  const auto deleted = std::find_if(requests.begin(), requests.end(),
                                    [](const auto& r) { return r.method == "DELETE"; });
  ASSERT_NE(deleted, requests.end());
  EXPECT_EQ(deleted->target, "/api/v1/training_runs/m1/checkpoints/" +
                                 path.substr(std::string("tinker://m1/").size()));
}

TEST_F(TinkerPlugin, AFailedModelComesBackWithACheckpoint) {
  RemotePolicy policy(options());
  learn(policy);
  policy.save(checkpoint());
  service_.answer_next("forward_backward", R"({"loss_fn_outputs":[]})");
  EXPECT_NE(failure_of([&] { learn(policy); }), "");
  const std::string broken = failure_of([&] { learn(policy); });
  EXPECT_NE(broken.find("resume from a checkpoint"), std::string::npos) << broken;
  EXPECT_NE(failure_of([&] { policy.save(checkpoint()); }), "");
  EXPECT_NE(failure_of([&] { policy.publish(); }), "");
  policy.load(checkpoint());
  learn(policy);
}

TEST_F(TinkerPlugin, WhatCannotBeLoadedIsNamed) {
  RemotePolicy policy(options());
  EXPECT_NE(failure_of([&] { policy.load(checkpoint()); }).find("tinker.json"), std::string::npos);
  std::ofstream(directory_ / "checkpoint" / "tinker.json") << "{\"format\": 1, \"path\": 7}";
  EXPECT_NE(failure_of([&] { policy.load(checkpoint()); }).find("is damaged"), std::string::npos);
  policy.save(checkpoint());
  RemotePolicy other(options_with("lora.rank", 8));
  EXPECT_NE(failure_of([&] { other.load(checkpoint()); }).find("the plan has tiny with rank 8"),
            std::string::npos);
}

TEST_F(TinkerPlugin, AGradientIsNotSavedHalfWay) {
  RemotePolicy policy(options());
  policy.forward_backward(LossSpec("ppo", 2, {{"tis", 2}}), examples());
  EXPECT_NE(failure_of([&] { policy.save(checkpoint()); }).find("the gradient would be lost"),
            std::string::npos);
}

TEST_F(TinkerPlugin, TheKeyComesFromTheEnvironment) {
  setenv("MY_KEY", "tml-1", 1);
  setenv("TINKER_API_KEY", "tml-2", 1);
  RemotePolicy named(options_with("api_key", "MY_KEY"));
  EXPECT_EQ(service_.server().requests().back().header("X-API-Key"), "tml-1");
  RemotePolicy without(options());  // not in the open, unless the plan says so
  EXPECT_EQ(service_.server().requests().back().header("X-API-Key"), "");
  EXPECT_NE(failure_of([&] {
              RemotePolicy(options_with("api_key", "NO_SUCH_KEY"));
            }).find("NO_SUCH_KEY, which is not set"),
            std::string::npos);
}

TEST_F(TinkerPlugin, TheAddressMayComeFromTheEnvironment) {
  EXPECT_NE(failure_of([&] { RemotePolicy(options_with("base_url", "")); }).find("TINKER_BASE_URL"),
            std::string::npos);
  setenv("TINKER_BASE_URL", service_.url().c_str(), 1);
  RemotePolicy policy(options_with("base_url", ""));
  EXPECT_EQ(sampled_version(policy), 0u);
}

TEST_F(TinkerPlugin, OptionsReachTheService) {
  Table table = options_with("lora.rank", 4);
  table.insert_or_assign("lora.seed", 9);
  table.insert_or_assign("lora.unembed", false);
  RemotePolicy policy(table);
  policy.publish();
  EXPECT_EQ(json::parse(service_.posted("create_model").at(0))["lora_config"],
            (json{{"rank", 4},
                  {"seed", 9},
                  {"train_unembed", false},
                  {"train_mlp", true},
                  {"train_attn", true}}));
}

}  // namespace
}  // namespace krl::tinker
