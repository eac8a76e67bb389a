#include "plugins/policies/openai/verdict.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <kernelrl/seeds.hpp>
#include <kernelrl/values.hpp>
#include <set>

#include "plugins/policies/openai/refusals.hpp"
#include "plugins/policies/openai/settings.hpp"

namespace krl::openai {
namespace {

using std::chrono::seconds;

Verdict of_status(unsigned status, std::vector<http::Header> headers = {}) {
  return verdict_of({status, std::move(headers), ""}, "why", /*now=*/0);
}

TEST(Verdict, WaitsAsLongAsTheServerSays) {
  EXPECT_EQ(of_status(429, {{"Retry-After", "7"}}).wait, http::Duration(seconds(7)));
  EXPECT_EQ(of_status(429).wait, std::nullopt);
  EXPECT_EQ(of_status(429).next, Verdict::kAgain);
}

TEST(Verdict, ToldApartByWhoseFaultItIs) {
  EXPECT_EQ(of_status(503).next, Verdict::kElsewhere);
  EXPECT_EQ(of_status(599).next, Verdict::kElsewhere);
  EXPECT_EQ(of_status(500).next, Verdict::kAgain);
  EXPECT_EQ(of_status(400).status, KRL_INVALID_ARGUMENT);
  EXPECT_EQ(of_status(402).status, KRL_FAILED_PRECONDITION);
  EXPECT_EQ(of_status(307).status, KRL_FAILED_PRECONDITION);
}

TEST(Verdict, OfExchangesWithoutAnAnswer) {
  using http::Cause;
  const auto next = [](Cause cause) {
    return verdict_of(http::Failure(cause, http::Phase::kBody, "why")).next;
  };
  for (const Cause cause : {Cause::kAddress, Cause::kConnect, Cause::kTimeout, Cause::kBroken})
    EXPECT_EQ(next(cause), Verdict::kElsewhere);
  for (const Cause cause : {Cause::kTls, Cause::kDeadline, Cause::kCancelled, Cause::kTooLarge})
    EXPECT_EQ(next(cause), Verdict::kNever);
  EXPECT_EQ(verdict_of(http::Failure(Cause::kTls, http::Phase::kHandshake, "why")).status,
            KRL_FAILED_PRECONDITION);
}

std::string learned(const Json& body, const std::string& words) {
  Refusals refusals;
  return refusals.learn(plain_dialect(), body, words);
}

TEST(Refusals, TakeAFieldForRefusedOnlyWhereItIsNamed) {
  const Json body = {{"seed", 1}, {"n", 2}, {"top_k", 3}, {"temperature", 1}};
  EXPECT_NE(learned(body, "unknown field `seed`"), "");
  EXPECT_NE(learned(body, "top_k is not supported"), "");
  EXPECT_NE(learned(body, "'n' must be 1"), "");
  EXPECT_NE(learned(body, "'temperature' must be the default"), "");
  EXPECT_EQ(learned(body, "not in order"), "");  // no n, no top_k
  EXPECT_EQ(learned(body, "n is too large"), "");
  EXPECT_EQ(learned(body, "seeds and unseeded ones"), "");
  EXPECT_EQ(learned({{"temperature", 0.5}}, "'temperature' must be the default"), "");
  EXPECT_EQ(learned({{"model", "m"}}, "unknown field seed"), "");
}

TEST(Refusals, AreNotLearnedTwice) {
  Refusals refusals;
  Json body = {{"seed", 1}, {"max_tokens", 9}};
  EXPECT_NE(refusals.learn(plain_dialect(), body, "no 'seed'"), "");
  EXPECT_EQ(refusals.learn(plain_dialect(), body, "no 'seed'"), "");
  EXPECT_NE(refusals.learn(plain_dialect(), body, "use max_completion_tokens"), "");
  refusals.apply(body);
  EXPECT_EQ(body, Json({{"max_completion_tokens", 9}}));
  EXPECT_EQ(refusals.learn(plain_dialect(), body, "max_completion_tokens is too large"), "");
}

TEST(Refusals, ReachIntoTables) {
  Refusals refusals;
  Json body = {{"sampling_params", {{"sampling_seed", 1}, {"n", 1}}}};
  EXPECT_NE(refusals.learn(sglang_dialect(), body, "unexpected keyword argument 'sampling_seed'"),
            "");
  refusals.apply(body);
  EXPECT_EQ(body, Json({{"sampling_params", {{"n", 1}}}}));
}

TEST(Seeds, DependOnEveryBitAndFitEveryServer) {
  std::set<std::uint32_t> seeds;
  for (int bit = 0; bit < 64; ++bit) seeds.insert(server_seed(std::uint64_t{1} << bit, 0));
  for (std::uint32_t index = 0; index < 64; ++index) seeds.insert(server_seed(0, index));
  EXPECT_EQ(seeds.size(), 128U);
  for (const std::uint32_t seed : seeds) EXPECT_LT(seed, std::uint32_t{1} << 31);
  EXPECT_EQ(server_seed(5, 3), server_seed(5, 3));
}

TEST(Settings, AUrlIsARootAndAPath) {
  const auto split = [](const char* url) {
    const BaseUrl base = split_base_url(url);
    return base.root + " " + base.api;
  };
  EXPECT_EQ(split("http://h:8000/v1"), "http://h:8000 /v1");
  EXPECT_EQ(split("http://h:8000/v1/"), "http://h:8000 /v1");
  EXPECT_EQ(split("http://h:8000"), "http://h:8000 /v1");
  EXPECT_EQ(split("https://h/openai/v1"), "https://h/openai /v1");
  EXPECT_EQ(split("https://h/api/v3"), "https://h/api/v3 ");
}

TEST(Settings, TheUsualKeyGoesOnlyWhereItIsEncrypted) {
  ::setenv("OPENAI_API_KEY", "usual", 1);
  EXPECT_EQ(api_key("", {"https://a/v1"}), "usual");
  EXPECT_EQ(api_key("", {"https://a/v1", "http://b/v1"}), "");
  EXPECT_EQ(api_key("OPENAI_API_KEY", {"http://b/v1"}), "usual");
  ::unsetenv("OPENAI_API_KEY");
  EXPECT_EQ(api_key("", {"https://a/v1"}), "");
  EXPECT_THROW(api_key("OPENAI_API_KEY", {"https://a/v1"}), Failure);
}

}  // namespace
}  // namespace krl::openai
