#include "core/run/checkpoints.hpp"

#include <gtest/gtest.h>

#include "tests/scratch_folder.hpp"
#include "tests/unit/core/base/faulty_file_system.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

class CheckpointsTest : public ::testing::Test {
 protected:
  static Checkpoints::SavePolicy weights(FileSystem& files, const std::string& text) {
    return [&files, text](const fs::path& folder) -> Status {
      KRL_TRY(make_directories(files, folder / "layers"));
      return write_atomically(files, folder / "layers/weights", text);
    };
  }

  // The checkpoint that a run would resume from: its state, after a check that the policy belongs
  // to it.
  std::string newest(std::vector<std::string> expected_warnings = {}) {
    auto checkpoints = Checkpoints::open(directory_, {2});
    std::vector<std::string> warnings;
    const auto found = checkpoints->newest(warnings);
    EXPECT_EQ(warnings, expected_warnings);
    if (!found || !*found) return "none";
    EXPECT_EQ(read_file((*found)->policy() / "layers/weights"), (*found)->state);
    return (*found)->state;
  }

  void save(int iteration, FileSystem& files = real_file_system()) {
    auto checkpoints = Checkpoints::open(directory_, {2}, files);
    const std::string text = "state " + std::to_string(iteration);
    const Status status = checkpoints->save(iteration, text, weights(files, text));
    ASSERT_TRUE(status) << status.error().message;
  }

  // The names of the steps that are there.
  std::vector<std::string> steps() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_))
      if (entry.is_directory()) names.push_back(entry.path().filename().string().substr(9));
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<Checkpoints> open(const CheckpointsKept& kept) {
    return Checkpoints::open(directory_, kept);
  }

  Status save_into(Checkpoints& checkpoints, int iteration, bool permanent = false) {
    const std::string text = "state " + std::to_string(iteration);
    return checkpoints.save(iteration, text, weights(real_file_system(), text), {}, permanent);
  }

  const test::ScratchFolder scratch_;
  const fs::path directory_ = scratch_ / "checkpoints";
};

TEST_F(CheckpointsTest, KeepsAPermanentOneAfterAReopening) {
  for (const int iteration : {1, 2, 3, 4}) {
    auto checkpoints = open({1});
    ASSERT_TRUE(save_into(*checkpoints, iteration, iteration == 2));
  }
  EXPECT_EQ(steps(), (std::vector<std::string>{"02", "04"}));
}

TEST_F(CheckpointsTest, KeepsTheNewestAndListsThemAll) {
  EXPECT_EQ(newest(), "none");
  for (const int iteration : {5, 10, 15}) save(iteration);
  EXPECT_EQ(newest(), "state 15");
  EXPECT_FALSE(fs::exists(directory_ / "step_000005"));
  EXPECT_TRUE(fs::exists(directory_ / "step_000010"));
  const std::string list = *read_file(directory_ / "checkpoints.jsonl");
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 3);
  EXPECT_NE(list.find(R"({"iteration":15,"directory":"step_000015","bytes":)"), std::string::npos)
      << list;
}

using Steps = std::vector<std::string>;

TEST_F(CheckpointsTest, KeepsSomeForGood) {
  for (int iteration = 5; iteration <= 60; iteration += 5) {
    auto checkpoints = open({2, 20});  // reopened each time, as by resumed runs
    ASSERT_TRUE(save_into(*checkpoints, iteration));
  }
  EXPECT_EQ(steps(), (Steps{"20", "40", "55", "60"}));
}

TEST_F(CheckpointsTest, KeepsTheBestOneWhereverItIs) {
  const CheckpointsKept kept{1, 0, "pass_rate"};
  {
    auto checkpoints = open(kept);
    ASSERT_TRUE(save_into(*checkpoints, 10));
    ASSERT_TRUE(checkpoints->rate(10, 0.5));
    ASSERT_TRUE(save_into(*checkpoints, 20));
    ASSERT_TRUE(checkpoints->rate(20, 0.5)) << "no better than the one before";
    ASSERT_TRUE(checkpoints->rate(25, 0.9)) << "has no checkpoint";
  }
  auto checkpoints = open(kept);
  ASSERT_TRUE(save_into(*checkpoints, 30));
  EXPECT_EQ(steps(), (Steps{"10", "30"}));
  EXPECT_EQ(read_checkpoint(directory_ / "best")->iteration, 10);
  ASSERT_TRUE(checkpoints->rate(40, 0.6)) << "is saved next";
  ASSERT_TRUE(save_into(*checkpoints, 40));
  EXPECT_EQ(read_checkpoint(directory_ / "best")->iteration, 40);
  ASSERT_TRUE(save_into(*checkpoints, 50));
  EXPECT_EQ(steps(), (Steps{"40", "50"}));
  EXPECT_EQ(newest(), "state 50");
}

TEST_F(CheckpointsTest, ForgetsTheBestOfSomethingElse) {
  {
    auto checkpoints = open({1, 0, "pass_rate"});
    ASSERT_TRUE(save_into(*checkpoints, 10));
    ASSERT_TRUE(checkpoints->rate(10, 0.5));
  }
  auto checkpoints = open({1, 0, "speedup_capped"});
  ASSERT_TRUE(save_into(*checkpoints, 20));
  EXPECT_EQ(steps(), (Steps{"20"}));
  ASSERT_TRUE(checkpoints->rate(20, 0.1));
  EXPECT_EQ(read_checkpoint(directory_ / "best")->iteration, 20);
}

TEST_F(CheckpointsTest, SaysWhatToNameWhereThereIsNone) {
  save(5);
  const auto message = [&](const char* name) {
    return read_checkpoint(directory_ / name).error().message;
  };
  EXPECT_NE(message("best").find("is marked as the best one"), std::string::npos);
  EXPECT_NE(message("step_000006").find("name a folder such as"), std::string::npos);
}

TEST_F(CheckpointsTest, IsWholeWhereverTheWritingStops) {
  for (const bool power_lost : {false, true}) {
    bool completed = false;
    for (int operation = 1; !completed; ++operation) {
      fs::remove_all(directory_);
      save(5);
      save(10);
      test::FaultyFileSystem files;
      files.stop_at(operation);
      auto checkpoints = Checkpoints::open(directory_, {2}, files);
      completed = checkpoints && checkpoints->save(15, "state 15", weights(files, "state 15"));
      if (power_lost) files.lose_power();
      const std::string found = newest();
      EXPECT_TRUE(found == "state 15" || (!completed && found == "state 10"))
          << operation << ": " << found;
      ASSERT_LT(operation, 200);
    }
  }
}

TEST_F(CheckpointsTest, SetsADamagedOneAsideAndTakesTheOneBefore) {
  save(5);
  save(10);
  const fs::path step = directory_ / "step_000010";
  ASSERT_TRUE(write_atomically(real_file_system(), step / "policy/layers/weights", "state 11"));
  const std::string why = (step / "policy/layers/weights").string() +
                          " is damaged: its checksum does not match; it is set aside as " +
                          (directory_ / "damaged_step_000010").string() +
                          ", and an older checkpoint is used";
  EXPECT_EQ(newest({why}), "state 5");
  EXPECT_EQ(newest(), "state 5");
  save(10);
  EXPECT_EQ(newest(), "state 10");
}

TEST_F(CheckpointsTest, IsDamagedIfAFileOrTheManifestIsMissing) {
  for (const char* const file : {"state.json", "manifest.json", "policy/layers/weights"}) {
    fs::remove_all(directory_);
    save(5);
    save(10);
    fs::remove(directory_ / "step_000010" / file);
    auto checkpoints = Checkpoints::open(directory_, {2});
    std::vector<std::string> warnings;
    EXPECT_EQ((*checkpoints->newest(warnings))->iteration, 5) << file;
    EXPECT_EQ(warnings.size(), 1u);
  }
}

TEST_F(CheckpointsTest, OnAFullDiskSaysHowMuchIsNeededAndTakesNoRoom) {
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE(
      Checkpoints::open(directory_, {2})->save(5, "state", weights(real_file_system(), large)));
  test::FaultyFileSystem files;
  auto checkpoints = Checkpoints::open(directory_, {2}, files);
  files.set_full(true);
  const Status full = checkpoints->save(10, "state 10", weights(files, large));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kResourceExhausted);
  EXPECT_NE(full.error().message.find("no space left on device (needs about 4 MB, "),
            std::string::npos)
      << full.error().message;
  EXPECT_NE(full.error().message.find("free some space and resume"), std::string::npos);
  EXPECT_FALSE(fs::exists(directory_ / "draft_step_000010"));
  files.set_full(false);
  ASSERT_TRUE(checkpoints->save(10, "state 10", weights(files, "state 10")));
  EXPECT_EQ(newest(), "state 10");
}

TEST_F(CheckpointsTest, PassesOnWhatThePolicySays) {
  const Status status = Checkpoints::open(directory_, {2})->save(5, "state", [](const fs::path&) {
    return Status(failure(Code::kInternal, "the policy is out of sorts"));
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "the policy is out of sorts");
  EXPECT_EQ(newest(), "none");
}

}  // namespace
}  // namespace krl::core
