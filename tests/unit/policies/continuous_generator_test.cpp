// Continuous batching on a device that is simple enough to be sure of: what grows in a slot depends
// on every token that the slot holds, so a prompt in the wrong place, a token too many or a slot
// given away too early changes the answer.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <thread>

#include "plugins/policies/libtorch/base/random_stream.hpp"
#include "plugins/policies/libtorch/generation/batching/continuous_generator.hpp"

namespace krl::libtorch {
namespace {

constexpr TokenId kEnd = 3;
constexpr TokenId kDiverging = 99;  // a prompt with it has no finite logits
constexpr std::int64_t kContext = 64;

// The token after `tokens`, by the stream of the sample.
TokenId next_token(const std::vector<TokenId>& tokens, std::uint64_t seed, unsigned sample,
                   int drawn) {
  std::uint64_t hash = 1469598103934665603ull;
  for (const TokenId token : tokens)
    hash = (hash ^ static_cast<std::uint64_t>(token)) * 1099511628211ull;
  const double u = uniform(hash ^ seed, sample, static_cast<std::uint64_t>(drawn));
  return u < 0.03 ? kEnd : static_cast<TokenId>(4 + 26 * uniform(hash, sample, seed));
}

SlotState idle() {
  SlotState state{};
  state.position = -1;
  return state;
}

// A BatchDecoder whose slots hold tokens instead of keys and values. Counts what it is asked for.
class TokenDecoder final : public BatchDecoder {
 public:
  Capacity reserve(std::int64_t slots, std::int64_t positions) override {
    ++reserved;
    most_slots_asked = std::max(most_slots_asked, slots);
    slots = std::min(slots, memory);
    slots_.assign(static_cast<std::size_t>(slots), Slot{});
    return {slots, (positions + 7) / 8 * 8};
  }
  void release() override {
    slots_.clear();
    ++released;
  }
  void start(const StartBatch& batch) override {
    for (const PromptCopy& copy : batch.copies) {
      slot(copy.to).cached = slot(copy.from).cached;
      slot(copy.to).cached.resize(static_cast<std::size_t>(copy.length));
      ++copied;
    }
    for (const StartBatch::Prefill& prefill : batch.prefills) {
      for (const int to : prefill.slots) {
        slot(to).cached.assign(prefill.prompt->begin(), prefill.prompt->end() - 1);
      }
      ++computed;
    }
    for (const SlotStart& start : batch.starts) {
      Slot& started = slot(static_cast<int>(start.slot));
      started.state = start.state;
      started.cached.resize(static_cast<std::size_t>(start.state.position));
    }
  }
  void advance(std::span<const int> slots, int steps) override {
    if (fail_after > 0 && --fail_after == 0) throw std::runtime_error("the device is gone");
    Block block{
        std::vector<std::int32_t>(slots_.size() * static_cast<std::size_t>(steps), -7), {}, steps};
    block.logprobs.resize(block.tokens.size(), -1.0f);
    for (int step = 0; step < steps; ++step) {
      for (const int s : slots)
        grow(slot(s), block,
             static_cast<std::size_t>(step) * slots_.size() + static_cast<std::size_t>(s));
    }
    blocks_.push_back(std::move(block));
    EXPECT_LE(blocks_.size(), static_cast<std::size_t>(kMostUnderWay));
    rows += static_cast<std::int64_t>(slots.size()) * steps;
  }
  DrawnTokens collect() override {
    collected_ = std::move(blocks_.front());
    blocks_.pop_front();
    return {collected_.tokens, collected_.logprobs, collected_.steps,
            static_cast<int>(slots_.size())};
  }
  void reset() override {
    blocks_.clear();
    slots_.clear();
  }
  void weights_ready() override { ++readied; }

  std::int64_t memory = 1000;  // slots that fit
  int fail_after = 0;          // calls of advance()
  std::int64_t most_slots_asked = 0, rows = 0;
  int reserved = 0, released = 0, copied = 0, computed = 0;
  std::atomic<int> readied = 0;

 private:
  struct Slot {
    SlotState state = idle();
    std::vector<TokenId> cached;
  };
  struct Block {
    std::vector<std::int32_t> tokens;
    std::vector<float> logprobs;
    int steps = 0;
  };

  Slot& slot(int i) { return slots_.at(static_cast<std::size_t>(i)); }

  // As the sampling kernel does it.
  static void grow(Slot& slot, Block& block, std::size_t at) {
    SlotState& state = slot.state;
    if (state.position < 0) return;
    ASSERT_EQ(slot.cached.size(), static_cast<std::size_t>(state.position));
    slot.cached.push_back(state.token);
    state.token = next_token(slot.cached, state.seed, state.sample, state.drawn);
    block.tokens[at] = state.token;
    if (slot.cached.front() == kDiverging) block.logprobs[at] = NAN;
    ++state.drawn;
    const bool ended = state.drawn == state.limit || state.token == kEnd;
    state.position = ended ? -1 : state.position + 1;
  }

  std::vector<Slot> slots_;
  std::deque<Block> blocks_;
  Block collected_;
};

const std::string& letter(TokenId token) {
  static const std::vector<std::string> letters = [] {
    std::vector<std::string> all(4);
    for (char c = 'a'; c <= 'z'; ++c) all.emplace_back(1, c);
    return all;
  }();
  return letters.at(static_cast<std::size_t>(token));
}

struct Answer {
  std::vector<TokenId> tokens;
  std::string text;
  std::uint32_t stop_reason;
  bool operator==(const Answer&) const = default;
};

// What a request's sample is, with nothing beside it.
Answer expected(const GenerationRequest& request, std::uint32_t index) {
  Answer answer;
  std::vector<TokenId> tokens = request.prompt;
  for (;;) {
    const int drawn = static_cast<int>(answer.tokens.size());
    const TokenId token = next_token(tokens, request.seed, index, drawn);
    tokens.push_back(token);
    answer.tokens.push_back(token);
    answer.stop_reason = KRL_STOP_END;
    if (token == kEnd) return answer;
    answer.text += letter(token);
    for (const std::string& stop : request.stop) {
      const std::size_t at = answer.text.find(stop);
      if (at == std::string::npos) continue;
      answer.text.resize(at);
      return answer;
    }
    answer.stop_reason = KRL_STOP_LENGTH;
    if (static_cast<std::int64_t>(answer.tokens.size()) == request.max_tokens) return answer;
    if (static_cast<std::int64_t>(tokens.size()) == kContext) return answer;
  }
}

using Answers = std::map<std::pair<std::size_t, std::uint32_t>, Answer>;

struct Keep {
  Answers& answers;
  void operator()(const GeneratedSample& sample) const {
    EXPECT_EQ(sample.tokens.size(), sample.logprobs.size());
    const bool added = answers
                           .try_emplace({sample.request, sample.index},
                                        Answer{sample.tokens, sample.text, sample.stop_reason})
                           .second;
    EXPECT_TRUE(added);
  }
};

std::vector<GenerationRequest> requests(std::uint64_t first, std::size_t count) {
  std::vector<GenerationRequest> all;
  for (std::uint64_t i = first; i < first + count; ++i) {
    GenerationRequest request;
    for (std::uint64_t t = 0; t <= i * 5 % 23; ++t) {
      request.prompt.push_back(static_cast<TokenId>(4 + (i + t * t) % 26));
    }
    if (i % 3 == 2) request.prompt = all.empty() ? request.prompt : all.back().prompt;
    request.samples = 1 + i % 5;
    request.max_tokens = 1 + static_cast<std::int64_t>(i * 7 % 40);
    request.seed = i;
    if (i % 4 == 1) request.stop = {"b", "qu"};
    all.push_back(request);
  }
  return all;
}

void expect_right(const std::vector<GenerationRequest>& asked, const Answers& answers) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < asked.size(); ++r) {
    for (std::uint32_t k = 0; k < asked[r].samples; ++k, ++count) {
      const auto found = answers.find({r, k});
      ASSERT_NE(found, answers.end()) << "request " << r << " sample " << k;
      EXPECT_EQ(found->second, expected(asked[r], k)) << "request " << r << " sample " << k;
    }
  }
  EXPECT_EQ(answers.size(), count);
}

class ContinuousGeneratorTest : public ::testing::Test {
 protected:
  ContinuousGenerator& make(Scheduler::Options options) {
    options.context = kContext;
    auto decoder = std::make_unique<TokenDecoder>();
    decoder_ = decoder.get();
    generator_ = std::make_unique<ContinuousGenerator>(
        std::move(decoder),
        TokenTexts{[](TokenId token) { return std::string_view(letter(token)); }, {kEnd}}, options);
    return *generator_;
  }
  Answers run(const std::vector<GenerationRequest>& asked) {
    Answers answers;
    generator_->run(asked, Keep{answers}, [] {});
    return answers;
  }

  TokenDecoder* decoder_ = nullptr;
  std::unique_ptr<ContinuousGenerator> generator_;
};

TEST_F(ContinuousGeneratorTest, EverySampleIsWhatItIsAlone) {
  for (const std::int64_t slots : {1, 3, 16, 500}) {
    for (const int steps : {1, 4, 16}) {
      make({.most_slots = slots, .steps = steps});
      const auto asked = requests(0, 40);
      expect_right(asked, run(asked));
      const auto more = requests(7, 30);  // and once more, with slots that have held prompts
      expect_right(more, run(more));
      EXPECT_LE(decoder_->most_slots_asked, slots);
    }
  }
}

TEST_F(ContinuousGeneratorTest, ManyCallersShareTheSlots) {
  make({.most_slots = 8, .steps = 4});
  std::vector<std::vector<GenerationRequest>> asked;
  for (std::uint64_t caller = 0; caller < 6; ++caller) asked.push_back(requests(caller * 9, 20));
  std::vector<Answers> answers(asked.size());
  {
    std::vector<std::jthread> callers;
    for (std::size_t c = 0; c < asked.size(); ++c) {
      callers.emplace_back([&, c] { answers[c] = run(asked[c]); });
    }
  }
  for (std::size_t c = 0; c < asked.size(); ++c) expect_right(asked[c], answers[c]);
  EXPECT_EQ(decoder_->readied, 6);
}

TEST_F(ContinuousGeneratorTest, RequestsThatComeLaterJoin) {
  make({.most_slots = 4, .steps = 4});
  const auto asked = requests(0, 30);
  Answers answers;
  std::size_t given = 0, open = 0;
  generator_->run_stream(
      [&](bool wait) -> std::optional<GenerationRequest> {
        // A few at a time, and a next one as soon as a sample is there.
        if (given == asked.size() || (!wait && open >= 3)) return std::nullopt;
        open += asked[given].samples;
        return asked[given++];
      },
      [&](const GeneratedSample& sample) {
        --open;
        Keep{answers}(sample);
      },
      [] {});
  EXPECT_EQ(given, asked.size());
  expect_right(asked, answers);
}

TEST_F(ContinuousGeneratorTest, APromptIsComputedOnce) {
  make({.most_slots = 4, .steps = 4});
  auto asked = requests(11, 1);
  asked[0].samples = 40;
  asked[0].max_tokens = 20;
  expect_right(asked, run(asked));
  EXPECT_EQ(decoder_->computed, 1);
  EXPECT_EQ(decoder_->copied, 0);  // the slots had it
  run(asked);
  EXPECT_EQ(decoder_->computed, 2);  // the weights may have changed
}

// The next call may come while the device still works on steps whose results are discarded.
TEST(SchedulerTest, APromptIsComputedAgainForACallAfterTheLast) {
  TokenDecoder decoder;
  Scheduler scheduler(decoder,
                      {[](TokenId token) { return std::string_view(letter(token)); }, {kEnd}},
                      {.most_slots = 2, .context = kContext, .steps = 4});
  GenerationRequest request = requests(11, 1)[0];
  request.samples = 1;
  request.max_tokens = 20;
  request.stop = {letter(expected(request, 0).tokens.front())};  // ends with its first token
  const auto call = [&] {
    auto made = std::make_shared<GenerationCall>();
    made->add({&request, 1});
    made->close();
    return made;
  };
  const auto first = call();
  scheduler.add(first);
  std::deque<GeneratedSample> finished;
  while (finished.empty()) {
    scheduler.round();
    first->wait(finished);
  }
  ASSERT_EQ(decoder.computed, 1);
  scheduler.add(call());
  while (scheduler.round()) {
  }
  EXPECT_EQ(decoder.computed, 2);
}

TEST_F(ContinuousGeneratorTest, APromptThatAnotherSlotHoldsIsCopied) {
  make({.most_slots = 4, .steps = 2});
  auto asked = requests(9, 2);
  ASSERT_NE(asked[0].prompt, asked[1].prompt);
  asked[0].samples = 3;
  asked[0].max_tokens = 3;
  asked[0].stop.clear();
  asked[1].samples = 6;
  asked[1].max_tokens = 40;
  asked[1].stop.clear();
  expect_right(asked, run(asked));
  EXPECT_EQ(decoder_->computed, 2);
  EXPECT_GT(decoder_->copied, 0);
}

TEST_F(ContinuousGeneratorTest, SlotsGrowWithWhatIsAsked) {
  make({.most_slots = 64, .steps = 4});
  run(requests(0, 1));
  EXPECT_EQ(decoder_->most_slots_asked, 1);
  run(requests(0, 40));
  EXPECT_EQ(decoder_->most_slots_asked, 64);
  const int before = decoder_->reserved;
  run(requests(0, 40));
  EXPECT_EQ(decoder_->reserved, before);
  generator_->release();
  EXPECT_EQ(decoder_->released, 1);
  const auto asked = requests(0, 10);
  expect_right(asked, run(asked));
}

TEST_F(ContinuousGeneratorTest, LittleMemoryIsFewSlots) {
  make({.most_slots = 64, .steps = 4});
  decoder_->memory = 3;
  const auto asked = requests(0, 40);
  expect_right(asked, run(asked));
  EXPECT_EQ(decoder_->reserved, 1);
}

TEST_F(ContinuousGeneratorTest, WhatACallerThrowsEndsItsCallAlone) {
  make({.most_slots = 4, .steps = 4});
  const auto asked = requests(0, 40);
  std::jthread leaving([&] {
    for (int i = 0; i < 20; ++i) {
      int left = i;
      EXPECT_THROW(generator_->run(
                       asked,
                       [&](const GeneratedSample&) {
                         if (left-- == 0) throw std::runtime_error("enough");
                       },
                       [] {}),
                   std::runtime_error);
    }
  });
  expect_right(asked, run(asked));
}

TEST_F(ContinuousGeneratorTest, WhatPollThrowsEndsTheCall) {
  make({.most_slots = 2, .steps = 4});
  const auto asked = requests(0, 40);
  EXPECT_THROW(
      generator_->run(
          asked, [](const GeneratedSample&) {}, [] { throw std::runtime_error("cancelled"); }),
      std::runtime_error);
  expect_right(asked, run(asked));
}

TEST_F(ContinuousGeneratorTest, LogitsThatAreNotFiniteFailTheirCallAlone) {
  make({.most_slots = 4, .steps = 4});
  auto diverging = requests(0, 3);
  diverging[1].prompt = {kDiverging, 5};
  const auto asked = requests(0, 20);
  std::jthread other([&] { EXPECT_THROW(run(diverging), Failure); });
  expect_right(asked, run(asked));
}

TEST_F(ContinuousGeneratorTest, AnErrorOfTheDeviceIsEveryCallsErrorAndTheNextOnesStart) {
  make({.most_slots = 4, .steps = 4});
  decoder_->fail_after = 5;
  const auto asked = requests(0, 40);
  EXPECT_THROW(run(asked), std::runtime_error);
  expect_right(asked, run(asked));
}

TEST_F(ContinuousGeneratorTest, NoRequestsAndNoSamplesAreFine) {
  make({.most_slots = 4, .steps = 4});
  EXPECT_TRUE(run({}).empty());
  auto none = requests(0, 1);
  none[0].samples = 0;
  EXPECT_TRUE(run(none).empty());
}

}  // namespace
}  // namespace krl::libtorch
