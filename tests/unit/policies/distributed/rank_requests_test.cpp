// Requests that several ranks share: what each says reaches the rank that answers it, and what
// becomes of it reaches the host under the number that it has there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/policies/libtorch/distributed/call_rows.hpp"
#include "tests/unit/policies/distributed/rank_training.hpp"

namespace krl::libtorch {
namespace {

using namespace krl::test;

// Of every four requests one is wrong and one too late; all have prompts of their own.
RequestList mixed_requests() {
  RequestList requests;
  for (std::int32_t i = 0; i < 16; ++i) {
    RequestOptions options = {.max_tokens = 8, .prompt_tokens = {1, 2, 3 + i}};
    if (i % 4 == 1) options.prompt_tokens.push_back(100000);
    if (i % 4 == 3) options.deadline_ns = 1;
    requests.add(options);
  }
  return requests;
}

class RankRequests : public ::testing::TestWithParam<bool> {};

TEST_P(RankRequests, FailByThemselvesUnderTheHostsNumbers) {
  for (const int size : {2, 3}) {
    with_policy(size, [](TrainablePolicy& policy) {
      fit(policy);
      EXPECT_TRUE(policy.describe().takes_tokens);
      SampleCollector collector;
      answer(policy, mixed_requests(), GetParam(), collector);
      EXPECT_EQ(collector.samples.size(), 8u);
      EXPECT_EQ(collector.failures.size(), 8u);
      for (std::uint32_t i = 0; i < 16; i += 2) {
        const auto last_token = static_cast<std::int32_t>(3 + i);
        EXPECT_THAT(collector.samples.at({i, 0}).prompt_tokens,
                    ::testing::ElementsAre(1, 2, last_token));
        EXPECT_EQ(collector.failures.at(i + 1).status,
                  i % 4 == 0 ? KRL_INVALID_ARGUMENT : KRL_DEADLINE_EXCEEDED);
        EXPECT_FALSE(collector.failures.at(i + 1).why.empty());
      }
      sample(policy, 3);  // the ranks are ready for more
    });
  }
}

// With many samples wanted of each: those that will not come are not waited for.
TEST_P(RankRequests, MayAllFail) {
  with_policy(3, [](TrainablePolicy& policy) {
    fit(policy);
    RequestList requests;
    for (int i = 0; i < 12; ++i) {
      requests.add({.prompt = "int " + std::to_string(i), .samples = 5, .max_tokens = 0});
    }
    SampleCollector collector;
    answer(policy, requests, GetParam(), collector);
    EXPECT_EQ(collector.failures.size(), 12u);
  });
}

INSTANTIATE_TEST_SUITE_P(Calls, RankRequests, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Stream" : "Sample"; });

// Clocks of machines differ; what is left of the time does not.
TEST(ReceivedRequests, HaveTheTimeThatWasLeft) {
  RequestList requests;
  const std::int64_t in_an_hour = monotonic_ns() + 3'600'000'000'000;
  requests.add({.prompt = "a", .deadline_ns = in_an_hour});
  requests.add({.prompt = "a"});
  const Requests sent = requests;
  ReceivedRequests received;
  for (const Request request : sent) {
    MessageWriter message;
    write_request(message, request);
    const std::string bytes = std::move(message).take();
    MessageReader reader(bytes);
    received.add(reader);
    reader.expect_end();
  }
  EXPECT_GE(received.requests()[0].deadline_ns(), in_an_hour);
  EXPECT_LT(received.requests()[0].deadline_ns(), in_an_hour + 60'000'000'000);
  EXPECT_EQ(received.requests()[1].deadline_ns(), 0);
}

}  // namespace
}  // namespace krl::libtorch
