#include "plugins/policies/libtorch/distributed/rank_liveness.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace krl::libtorch {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

// What all boards of a test show.
struct Texts {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, std::string> texts;
};

// A rank's way to the texts, which can be cut.
struct Way {
  std::atomic<bool> frozen{false}, broken{false};
};

class MemoryBoard final : public RankBoard {
 public:
  MemoryBoard(std::shared_ptr<Texts> texts, std::shared_ptr<Way> way)
      : texts_(std::move(texts)), way_(std::move(way)) {}

  void set(const std::string& name, const std::string& text) override {
    pass();
    const std::lock_guard lock(texts_->mutex);
    texts_->texts[name] = text;
    texts_->changed.notify_all();
  }

  std::string get(const std::string& name) override {
    pass();
    std::unique_lock lock(texts_->mutex);
    texts_->changed.wait(lock, [&] { return texts_->texts.contains(name); });
    return texts_->texts[name];
  }

 private:
  void pass() const {
    while (way_->frozen) std::this_thread::sleep_for(milliseconds(5));
    if (way_->broken) throw std::runtime_error("broken");
  }

  std::shared_ptr<Texts> texts_;
  std::shared_ptr<Way> way_;
};

// Three ranks in one process.
class Ranks : public ::testing::Test {
 protected:
  static constexpr milliseconds kTimeout{400};

  Ranks() {
    for (int r = 0; r < 3; ++r) {
      ways.push_back(std::make_shared<Way>());
      ranks.push_back(std::make_unique<RankLiveness>(
          std::make_unique<MemoryBoard>(texts, ways.back()), r,
          std::vector<std::string>{"rank 0 (a)", "rank 1 (b)", "rank 2 (c)"}, kTimeout,
          [this] { ++losses; }));
    }
  }
  ~Ranks() override {
    for (const auto& way : ways) way->frozen = false;
    ranks.clear();
  }

  static void wait_for(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::sleep_for(milliseconds(5));
  }

  std::shared_ptr<Texts> texts = std::make_shared<Texts>();
  std::vector<std::shared_ptr<Way>> ways;
  std::vector<std::unique_ptr<RankLiveness>> ranks;
  std::atomic<int> losses{0};
};

TEST_F(Ranks, AreNotLostWhileTheyGiveSigns) {
  const auto sign = [&] {
    const std::lock_guard lock(texts->mutex);
    const auto at = texts->texts.find("sign/2");
    return at == texts->texts.end() ? 0 : std::stoi(at->second);
  };
  wait_for([&] { return sign() > 10; });
  for (const auto& rank : ranks) EXPECT_FALSE(rank->lost()) << rank->verdict();
}

TEST_F(Ranks, LoseOneThatGivesNoSign) {
  ways[2]->frozen = true;
  for (const int r : {0, 1}) {
    EXPECT_THAT(ranks[static_cast<std::size_t>(r)]->wait_for_verdict(),
                HasSubstr("rank 2 (c) is lost: no sign of life for 0.4 s"));
  }
}

TEST_F(Ranks, LoseRank0WhenItDoesNotAnswer) {
  for (const auto& way : ways) way->frozen = true;
  EXPECT_THAT(ranks[1]->wait_for_verdict(), HasSubstr("rank 0 (a) is lost: no answer for 0.4 s"));
}

TEST_F(Ranks, LoseRank0WhenItsConnectionBreaks) {
  ways[1]->broken = true;
  wait_for([&] { return ranks[1]->lost(); });
  EXPECT_THAT(ranks[1]->verdict(), HasSubstr("rank 0 (a) is lost: it has ended"));
  EXPECT_THAT(ranks[0]->wait_for_verdict(), HasSubstr("rank 1 (b) is lost: no sign"));
}

TEST_F(Ranks, AreToldOfABrokenConnection) {
  ranks[0]->report_lost(1, "its connection broke");
  EXPECT_EQ(ranks[0]->verdict(), "rank 1 (b) is lost: its connection broke");
  EXPECT_EQ(ranks[2]->wait_for_verdict(), "rank 1 (b) is lost: its connection broke");
  ranks[0]->report_lost(2, "later");
  EXPECT_EQ(ranks[0]->verdict(), "rank 1 (b) is lost: its connection broke");
  wait_for([&] { return losses == 3; });
}

TEST_F(Ranks, AreToldOfAFailure) {
  ranks[1]->fail("out of memory");
  EXPECT_EQ(ranks[1]->verdict(), "rank 1 (b) failed: out of memory");
  EXPECT_EQ(ranks[0]->wait_for_verdict(), "rank 1 (b) failed: out of memory");
  EXPECT_EQ(ranks[2]->wait_for_verdict(), "rank 1 (b) failed: out of memory");
}

TEST_F(Ranks, AreToldOfAFailureOfRank0) {
  ranks[0]->fail("out of memory");
  EXPECT_EQ(ranks[0]->verdict(), "rank 0 (a) failed: out of memory");
  EXPECT_EQ(ranks[1]->wait_for_verdict(), "rank 0 (a) failed: out of memory");
  EXPECT_EQ(ranks[2]->wait_for_verdict(), "rank 0 (a) failed: out of memory");
}

TEST_F(Ranks, AreToldOfCancelledCommands) {
  EXPECT_EQ(ranks[1]->cancelled(), 0U);
  ranks[0]->cancel(7);
  wait_for([&] { return ranks[1]->cancelled() == 7 && ranks[2]->cancelled() == 7; });
  EXPECT_FALSE(ranks[1]->lost());
}

}  // namespace
}  // namespace krl::libtorch
