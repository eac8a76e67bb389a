#include "core/run/ledger.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/unit/core/base/faulty_file_system.hpp"
#include "tests/unit/core/base/scratch_folder.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

LedgerRecord record(const std::string& key, int iteration, double speedup = 1) {
  return {key, iteration, "softmax rows", "ok", speedup, R"({"cases":[1,2]})"};
}

std::vector<std::string> keys_in(const fs::path& directory) {
  std::vector<std::string> keys;
  EXPECT_TRUE(read_ledger(directory, [&](const LedgerRecord& found) {
    keys.push_back(found.key);
    return true;
  }));
  return keys;
}

TEST(Ledger, GivesBackWhatItWasGiven) {
  const test::ScratchFolder folder;
  auto ledger = *Ledger::open(folder.path(), 0);
  ASSERT_TRUE(
      ledger->append({"k1", 3, "a \"task\"\n", "wrong_result", 0.25, "{\n \"x\": \"a\\nb\"\n}"}));
  const auto found = ledger->find("k1", 4);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->task, "a \"task\"\n");
  EXPECT_EQ((*found)->verdict, "wrong_result");
  EXPECT_EQ((*found)->iteration, 3);
  EXPECT_EQ((*found)->speedup, 0.25);
  EXPECT_EQ((*found)->evaluation, R"({"x":"a\nb"})");
  EXPECT_FALSE(*ledger->find("other", 4));
}

TEST(Ledger, KeepsButNeverFindsARecordWithoutAKey) {
  const test::ScratchFolder folder;
  for (int opened = 1; opened <= 2; ++opened) {
    auto ledger = *Ledger::open(folder.path(), 9);
    ASSERT_TRUE(ledger->append(record("", opened)));
    ASSERT_TRUE(ledger->append(record("k" + std::to_string(opened), opened)));
    EXPECT_FALSE(*ledger->find("", 9));
    EXPECT_EQ(ledger->size(), static_cast<std::size_t>(opened));
    EXPECT_EQ(ledger->damaged(), 0u);
  }
  EXPECT_EQ(keys_in(folder.path()), (std::vector<std::string>{"", "k1", "", "k2"}));
}

TEST(Ledger, AnswersFromEarlierIterationsOnlyAndTheNewestOfThem) {
  const test::ScratchFolder folder;
  auto ledger = *Ledger::open(folder.path(), 0);
  for (const int iteration : {1, 3, 5})
    ASSERT_TRUE(ledger->append(record("k", iteration, iteration)));
  EXPECT_FALSE(*ledger->find("k", 1));
  EXPECT_EQ((*ledger->find("k", 2))->speedup, 1);
  EXPECT_EQ((*ledger->find("k", 5))->speedup, 3);
  EXPECT_EQ((*ledger->find("k", 6))->speedup, 5);
}

TEST(Ledger, HidesForeverWhatAResumedRunDoesAgain) {
  const test::ScratchFolder folder;
  {
    auto ledger = *Ledger::open(folder.path(), 0);
    for (int iteration = 1; iteration <= 4; ++iteration)
      ASSERT_TRUE(ledger->append(record("k", iteration)));
  }
  {
    auto ledger = *Ledger::open(folder.path(), 2);
    EXPECT_EQ(ledger->size(), 2u);
    ASSERT_TRUE(ledger->append(record("other", 3)));
  }
  auto ledger = *Ledger::open(folder.path(), 9);
  EXPECT_EQ(ledger->size(), 3u);
  EXPECT_EQ((*ledger->find("k", 9))->iteration, 2);
  EXPECT_EQ(keys_in(folder.path()), (std::vector<std::string>{"k", "k", "k", "k", "other"}));
}

TEST(Ledger, GoesOnInNewSegmentsAndReadsThemAll) {
  const test::ScratchFolder folder;
  std::vector<std::string> keys;
  {
    auto ledger = *Ledger::open(folder.path(), 0, real_file_system(), 300);
    for (int i = 0; i < 20; ++i) {
      keys.push_back("key" + std::to_string(i));
      ASSERT_TRUE(ledger->append(record(keys.back(), 1, i)));
    }
    EXPECT_EQ((*ledger->find("key0", 2))->speedup, 0);
  }
  EXPECT_TRUE(fs::exists(folder / "000003.log"));
  auto ledger = *Ledger::open(folder.path(), 1, real_file_system(), 300);
  EXPECT_EQ(ledger->size(), 20u);
  EXPECT_EQ((*ledger->find("key19", 2))->speedup, 19);
  EXPECT_EQ(keys_in(folder.path()), keys);
}

TEST(Ledger, DropsATornRecordAtEveryLength) {
  const test::ScratchFolder folder;
  {
    auto ledger = *Ledger::open(folder.path(), 0);
    ASSERT_TRUE(ledger->append(record("a", 1)));
    ASSERT_TRUE(ledger->append(record("b", 1)));
  }
  const fs::path segment = folder / "000001.log";
  const std::string whole = *read_file(segment);
  const std::size_t second = whole.find('\n') + 1;
  for (std::size_t size = second; size < whole.size(); ++size) {
    ASSERT_TRUE(write_atomically(real_file_system(), segment, whole.substr(0, size)));
    EXPECT_EQ(keys_in(folder.path()), (std::vector<std::string>{"a"}));
    auto ledger = *Ledger::open(folder.path(), 1);
    EXPECT_EQ(ledger->size(), 1u);
    ASSERT_TRUE(ledger->append(record("c", 2)));
    EXPECT_EQ(keys_in(folder.path()), (std::vector<std::string>{"a", "c"}));
  }
}

TEST(Ledger, LosesNoMoreThanTheRecordThatIsDamaged) {
  const test::ScratchFolder folder;
  {
    auto ledger = *Ledger::open(folder.path(), 0);
    for (const char* const key : {"a", "b", "c"}) ASSERT_TRUE(ledger->append(record(key, 1)));
  }
  std::string bytes = *read_file(folder / "000001.log");
  bytes[bytes.find("softmax", bytes.find('\n'))] ^= 1;
  ASSERT_TRUE(write_atomically(real_file_system(), folder / "000001.log", bytes));
  auto ledger = *Ledger::open(folder.path(), 1);
  EXPECT_EQ(ledger->damaged(), 1u);
  EXPECT_TRUE(*ledger->find("a", 2));
  EXPECT_FALSE(*ledger->find("b", 2));
  EXPECT_TRUE(*ledger->find("c", 2));
}

TEST(Ledger, StaysValidOnAFullDisk) {
  const test::ScratchFolder folder;
  test::FaultyFileSystem files;
  auto ledger = *Ledger::open(folder.path(), 0, files);
  ASSERT_TRUE(ledger->append(record("a", 1)));
  files.set_full(true);
  const Status full = ledger->append(record("b", 1));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  EXPECT_FALSE(*ledger->find("b", 2));
  files.set_full(false);
  ASSERT_TRUE(ledger->append(record("b", 1)));
  EXPECT_EQ(keys_in(folder.path()), (std::vector<std::string>{"a", "b"}));
}

TEST(Ledger, RefusesKeysThatAreNoHashes) {
  const test::ScratchFolder folder;
  auto ledger = *Ledger::open(folder.path(), 0);
  for (const char* const key : {"two words", "line\n", "resumed"})
    EXPECT_FALSE(ledger->append(record(key, 1)));
}

TEST(Ledger, ShowsReadersAPrefixWhileThreadsWrite) {
  const test::ScratchFolder folder;
  auto ledger = *Ledger::open(folder.path(), 0, real_file_system(), 4000);
  constexpr int kThreads = 3, kRecords = 200;
  std::atomic<int> writing = kThreads;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kRecords; ++i)
        EXPECT_TRUE(ledger->append(record(std::to_string(thread) + "-" + std::to_string(i), 1, i)));
      --writing;
    });
  std::vector<std::string> before;
  for (bool last = false; !last;) {
    last = writing == 0;
    const std::vector<std::string> now = keys_in(folder.path());
    ASSERT_GE(now.size(), before.size());
    ASSERT_TRUE(std::equal(before.begin(), before.end(), now.begin()));
    before = now;
  }
  EXPECT_EQ(before.size(), static_cast<std::size_t>(kThreads * kRecords));
  EXPECT_EQ(ledger->size(), before.size());
}

}  // namespace
}  // namespace krl
