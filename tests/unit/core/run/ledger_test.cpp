#include "core/run/ledger.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <kernelrl/evaluation_json.hpp>
#include <thread>

#include "core/base/hash.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/core/base/faulty_file_system.hpp"
#include "tests/unit/core/run/timed_evaluation.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

LedgerRecord record(const std::string& key, int iteration, double speedup = 1) {
  return {key, iteration, "softmax rows", test::timed_evaluation(speedup)};
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
  Evaluation evaluation = test::timed_evaluation(0.25);
  evaluation.verdict = Verdict::kWrongResult;
  evaluation.why = "a\nb";
  ASSERT_TRUE(ledger->append({"k1", 3, "a \"task\"\n", evaluation}));
  const auto found = ledger->find("k1", 4);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->task, "a \"task\"\n");
  EXPECT_EQ((*found)->round, 3);
  EXPECT_EQ(nlohmann::json((*found)->evaluation), nlohmann::json(evaluation));
  EXPECT_FALSE(*ledger->find("other", 4));
}

// As version 0.1 wrote it: null for an infinity, and no fields that came later.
constexpr char kOldRecord[] =
    R"(8 268b22 {"task":"relu","verdict":"wrong_result","speedup":null,"evaluation":{"backend":"cpu",)"
    R"("cases":[{"baseline_ns":900.5,"baseline_samples_ns":[],"detail":"out: 747 of 1003 elements are wrong",)"
    R"("estimated":true,"kind":"fresh","label":"size=1003","max_abs_error":null,"max_rel_error":null,)"
    R"("samples_ns":[1.5],"speedup":null,"speedup_high":null,"speedup_low":null,"time_ns":null,)"
    R"("verdict":"wrong_result"}],"compile_log":"","contract":"host","device":"emulated Jetson Orin Nano",)"
    R"("diagnostics":[{"code":"#174-D","column":0,"line":3,"severity":1,"text":"no effect"}],)"
    R"("kernels":[{"arch":"sm_87","blocks_per_sm":16,"max_threads":-1,"name":"kern","occupancy":0.5,)"
    R"("occupancy_limiter":"blocks","registers":10,"shared_bytes":0,"spill_bytes":0,"stack_bytes":0}],)"
    R"("toolchain":"NVRTC 13.0","values":[{"case":0,"name":"blocks","unit":"","value":4.0}],)"
    R"("verdict":"wrong_result","why":"size=1003: wrong"}})";

TEST(Ledger, ReadsWhatEarlierVersionsWrote) {
  const test::ScratchFolder folder;
  std::ofstream(folder / "000001.log")
      << fmt::format("{:08x} {}\n", crc32c(kOldRecord), kOldRecord);
  const auto found = (*Ledger::open(folder.path(), 8))->find("268b22", 9);
  ASSERT_TRUE(found && *found);
  const Evaluation& e = (*found)->evaluation;
  EXPECT_EQ(e.verdict, Verdict::kWrongResult);
  EXPECT_EQ(e.contract, Contract::kHost);
  EXPECT_EQ(e.toolchain, "NVRTC 13.0");
  ASSERT_EQ(e.cases.size(), 1U);
  EXPECT_EQ(e.cases[0].kind, CaseKind::kFresh);
  EXPECT_EQ(e.cases[0].verdict, Verdict::kWrongResult);
  EXPECT_EQ(e.cases[0].baseline_ns, 900.5);
  EXPECT_TRUE(e.cases[0].estimated);
  EXPECT_TRUE(std::isnan(e.cases[0].max_abs_error));
  EXPECT_EQ(e.cases[0].samples_ns, (std::vector<double>{1.5}));
  EXPECT_EQ(e.kernels.at(0).registers, 10);
  EXPECT_EQ(e.diagnostics.at(0).line, 3U);
  EXPECT_EQ(e.values.at(0).case_index, 0);
  EXPECT_EQ(e.value("blocks"), 4);
}

TEST(Ledger, RefusesAnEvaluationItDoesNotKnow) {
  const test::ScratchFolder folder;
  const std::string record = R"(8 268b22 {"task":"relu","evaluation":{"verdict":"splendid"}})";
  std::ofstream(folder / "000001.log") << fmt::format("{:08x} {}\n", crc32c(record), record);
  const auto found = (*Ledger::open(folder.path(), 8))->find("268b22", 9);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("unknown name 'splendid'"), std::string::npos);
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
  EXPECT_DOUBLE_EQ((*ledger->find("k", 2))->evaluation.speedup(), 1);
  EXPECT_DOUBLE_EQ((*ledger->find("k", 5))->evaluation.speedup(), 3);
  EXPECT_DOUBLE_EQ((*ledger->find("k", 6))->evaluation.speedup(), 5);
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
  EXPECT_EQ((*ledger->find("k", 9))->round, 2);
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
    EXPECT_DOUBLE_EQ((*ledger->find("key0", 2))->evaluation.speedup(), 0);
  }
  EXPECT_TRUE(fs::exists(folder / "000003.log"));
  auto ledger = *Ledger::open(folder.path(), 1, real_file_system(), 300);
  EXPECT_EQ(ledger->size(), 20u);
  EXPECT_DOUBLE_EQ((*ledger->find("key19", 2))->evaluation.speedup(), 19);
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
}  // namespace krl::core
