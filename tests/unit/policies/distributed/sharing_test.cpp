#include "plugins/policies/libtorch/distributed/sharing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "plugins/policies/libtorch/distributed/call_rows.hpp"
#include "plugins/policies/libtorch/training/slice.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace krl::libtorch {
namespace {

using test::RequestList;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

RequestList prompts(const std::vector<std::string>& texts) {
  RequestList list;
  for (const std::string& text : texts) list.add({.prompt = text, .seed = 5});
  return list;
}

TEST(ShareRequests, KeepsPromptsTogether) {
  const RequestList list = prompts({"a", "b", "a", "b", "a", "b"});
  EXPECT_THAT(share_requests(list, 2), ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3, 5)));
}

TEST(ShareRequests, KeepsPromptsOfTokensTogether) {
  RequestList list;
  for (std::int32_t i = 0; i < 4; ++i) list.add({.prompt = "a", .prompt_tokens = {1, i % 2}});
  EXPECT_THAT(share_requests(list, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(ShareRequests, CutsAPromptWhereRanksWouldDiffer) {
  const RequestList list = prompts({"a", "a", "a", "a", "a", "a", "b"});
  const auto shares = share_requests(list, 2);
  EXPECT_LE(std::max(shares[0].size(), shares[1].size()), 4U);
}

TEST(ShareRequests, CountsSamples) {
  RequestList list;
  list.add({.prompt = "a", .samples = 6});
  for (int i = 0; i < 6; ++i) list.add({.prompt = "b"});
  EXPECT_THAT(share_requests(list, 2), ElementsAre(ElementsAre(0), ElementsAre(1, 2, 3, 4, 5, 6)));
}

TEST(ShareRequests, GivesEachToOneRank) {
  for (const int ranks : {1, 2, 3, 8}) {
    const RequestList list = prompts({"a", "b", "c", "a", "d"});
    std::multiset<std::size_t> all;
    for (const RankShare& share : share_requests(list, ranks)) {
      EXPECT_TRUE(std::is_sorted(share.begin(), share.end()));
      all.insert(share.begin(), share.end());
    }
    EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4)) << ranks;
  }
  EXPECT_THAT(share_requests(prompts({}), 2), ElementsAre(ElementsAre(), ElementsAre()));
}

TEST(ShareExamples, BalancesTokens) {
  const std::vector<std::int64_t> lengths = {10, 90, 40, 30, 20, 50};
  const auto shares = share_examples(lengths, 2);
  std::vector<std::int64_t> loads;
  for (const RankShare& share : shares) {
    std::int64_t load = 0;
    for (const std::size_t i : share) load += lengths[i];
    loads.push_back(load);
  }
  EXPECT_THAT(loads, ElementsAre(120, 120));
  EXPECT_THAT(share_examples(std::vector<std::int64_t>{7}, 3),
              ElementsAre(ElementsAre(0), ElementsAre(), ElementsAre()));
}

TEST(SliceOfRank, CoversEverythingOnce) {
  for (const std::int64_t total : {0, 1, 2, 7, 1000}) {
    for (const int ranks : {1, 2, 3, 8}) {
      std::int64_t end = 0;
      for (int r = 0; r < ranks; ++r) {
        const Slice slice = slice_of_rank(total, r, ranks);
        EXPECT_EQ(slice.begin, end);
        EXPECT_GE(slice.size(), total / ranks);
        end = slice.end;
      }
      EXPECT_EQ(end, total);
    }
  }
}

TEST(CallRows, BringRequestsAcross) {
  RequestList list;
  list.add({.prompt = "one",
            .samples = 3,
            .max_tokens = 9,
            .temperature = 0.5,
            .top_p = 0.75,
            .top_k = 4,
            .seed = 77,
            .stop = {"</KERNEL>", "\n\n"}});
  list.add({.prompt = "two"});
  MessageWriter writer;
  const Requests sent = list;
  for (const Request request : sent) write_request(writer, request);
  const std::string bytes = std::move(writer).take();
  MessageReader reader(bytes);
  ReceivedRequests received;
  received.add(reader);
  received.add(reader);
  reader.expect_end();
  const Request first = received.requests()[0];
  EXPECT_EQ(first.messages()[0].text(), "one");
  EXPECT_EQ(first.messages()[0].role(), KRL_ROLE_USER);
  EXPECT_EQ(first.n_samples(), 3U);
  EXPECT_EQ(first.max_tokens(), 9U);
  EXPECT_EQ(first.temperature(), 0.5);
  EXPECT_EQ(first.top_p(), 0.75);
  EXPECT_EQ(first.top_k(), 4);
  EXPECT_EQ(first.seed(), 77U);
  EXPECT_THAT(first.stop(), ElementsAre("</KERNEL>", "\n\n"));
  EXPECT_EQ(received.requests()[1].messages()[0].text(), "two");
}

TEST(CallRows, BringExamplesAcross) {
  test::ExampleList list;
  list.add({{1}, {2, 3}});
  list.add({{4, 5}, {6}, {-0.5F}, {1.5F}, {0.25F}});
  MessageWriter writer;
  write_examples(writer, list, {1});
  const std::string bytes = std::move(writer).take();
  MessageReader reader(bytes);
  const ReceivedExamples received(reader);
  reader.expect_end();
  ASSERT_EQ(received.examples().size(), 1U);
  const Example example = received.examples()[0];
  const auto vector = [](auto span) { return std::vector(span.begin(), span.end()); };
  EXPECT_THAT(vector(example.prompt_tokens()), ElementsAre(4, 5));
  EXPECT_THAT(vector(example.tokens()), ElementsAre(6));
  EXPECT_THAT(vector(example.logprobs()), ElementsAre(-0.5F));
  EXPECT_THAT(vector(example.advantages()), ElementsAre(1.5F));
  EXPECT_THAT(vector(example.weights()), ElementsAre(0.25F));
  EXPECT_TRUE(example.values().empty());
}

// What a value holds after the way to another rank and into C's terms.
template <class V>
V sent(const V& value) {
  MessageWriter writer;
  write_value(writer, value);
  const std::string bytes = std::move(writer).take();
  MessageReader reader(bytes);
  const auto received = read_value<V>(reader);
  reader.expect_end();
  return value_of<V>(*CView(received).c());
}

TEST(CallRows, BringLossesAcross) {
  LossValue spec{"ppo", KRL_TOKEN_SUM, 128, 0.7, {{"clip_low", 0.1}, {"kl", 0.5}}};
  const LossValue loss = sent(spec);
  EXPECT_EQ(loss.name, "ppo");
  EXPECT_EQ(loss.normaliser, 128);
  EXPECT_EQ(loss.temperature, 0.7);
  EXPECT_EQ(loss.aggregation, KRL_TOKEN_SUM);
  EXPECT_EQ(loss.parameters.at(1).name, "kl");
  EXPECT_EQ(loss.parameters.at(1).value, 0.5);
  EXPECT_EQ(loss.flags, KRL_LOSS_LAST_OF_STEP);
  spec.flags = 0;
  EXPECT_EQ(sent(spec).flags, 0U);
}

TEST(CallRows, LoseNoFieldOnTheWay) {
  RequestValue request;
  request.session = "run/3";
  EXPECT_EQ(sent(request).session, "run/3");
  ExampleValue example;
  example.version = 7;
  example.state = "v7";
  EXPECT_EQ(sent(example).version, 7U);
  EXPECT_EQ(sent(example).state, "v7");
  SampleValue sample;
  sample.tokens = {1, 2, 3};
  sample.spans = {{0, 4}, {2, 5}};
  sample.state = "s";
  EXPECT_EQ(sent(sample).spans.at(1).first_token, 2U);
  EXPECT_EQ(sent(sample).spans.at(1).version, 5U);
  EXPECT_EQ(sent(sample).state, "s");
}

// Every message cut at every place is an error, not a crash.
TEST(CallRows, AreCheckedForTheirLength) {
  test::ExampleList list;
  list.add({{4, 5}, {6}, {-0.5F}, {1.5F}, {0.25F}});
  MessageWriter writer;
  write_examples(writer, list, {0});
  const std::string bytes = std::move(writer).take();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    MessageReader reader(std::string_view(bytes).substr(0, size));
    EXPECT_THROW(ReceivedExamples{reader}, Failure) << size;
  }
  std::string huge = bytes;
  huge.replace(0, 8, 8, '\xff');
  MessageReader reader(huge);
  EXPECT_THROW(ReceivedExamples{reader}, Failure);
}

}  // namespace
}  // namespace krl::libtorch
