// Each process' working directory is another, so what one rank has under a path is not there for
// the other, or is something else.
#include "plugins/policies/libtorch/distributed/directory_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "plugins/files/file.hpp"
#include "tests/unit/policies/distributed/rank_training.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kCheckpoint = "/proc/self/cwd/checkpoint";
constexpr std::size_t kLarge = 3 << 20;

// A regular file that nobody can read.
void make_unreadable(const fs::path& path) { fs::create_symlink("/proc/self/mem", path); }

struct Side {
  std::function<void(const fs::path&)> prepare;  // its checkpoint
  std::function<void(RankGroup&)> work;
};

// Two ranks whose checkpoints lie under the same path. What they do leaves them in step.
void with_two(const Side& first, const Side& other) {
  const test::TemporaryDirectory home, elsewhere;
  run_ranks(2, [&](const RankEnvironment& ranks) {
    const Side& side = ranks.rank == 0 ? first : other;
    fs::current_path(ranks.rank == 0 ? home.path() : elsewhere.path());
    fs::create_directory("checkpoint");
    side.prepare("checkpoint");
    RankGroup group(ranks, RankTimeouts{}, "");
    side.work(group);
    if (ranks.rank == 0) {
      EXPECT_EQ(group.receive(1), "in step");
    } else {
      group.send(0, "in step");
    }
    group.sum(0);  // rank 0 stays until rank 1 has what it needs
  });
}

void offer(RankGroup& group) { EXPECT_TRUE(offer_directory(group, kCheckpoint)); }

void write_checkpoint(const fs::path& directory) {
  files::write_file(directory / "state.json", {"{}"});
  files::write_file(directory / "weights", {std::string(kLarge, 'w')});
}

void expect_copy(RankGroup& group) {
  fs::path copy;
  {
    const OfferedDirectory offered(group);
    copy = offered.path();
    EXPECT_TRUE(offered.is_copy());
    EXPECT_EQ(files::read_file(copy / "state.json"), "{}");
    EXPECT_EQ(files::read_file(copy / "weights"), std::string(kLarge, 'w'));
  }
  EXPECT_FALSE(fs::exists(copy)) << "it is removed";
}

void expect_seen(RankGroup& group) {
  const OfferedDirectory offered(group);
  EXPECT_FALSE(offered.is_copy());
  EXPECT_EQ(offered.path(), kCheckpoint);
}

TEST(DirectoryCopy, IsMadeWhereTheDirectoryIsNotSeen) {
  with_two({write_checkpoint, offer}, {[](const fs::path&) {}, expect_copy});
}

TEST(DirectoryCopy, IsNotMadeWhereItIsSeen) {
  with_two({write_checkpoint, offer}, {write_checkpoint, expect_seen});
}

TEST(DirectoryCopy, IsNotMadeOfNothing) {
  const auto nothing = [](const fs::path& directory) { fs::remove(directory); };
  with_two({nothing, offer}, {nothing, expect_seen});
}

// Of the same run and step, as an earlier attempt may have left it.
TEST(DirectoryCopy, IsMadeWhereFilesOfTheSameSizeAreOthers) {
  const auto older = [](const fs::path& directory) {
    files::write_file(directory / "state.json", {"{}"});
    files::write_file(directory / "weights", {std::string(kLarge - 1, 'w'), "v"});
  };
  with_two({write_checkpoint, offer}, {older, expect_copy});
}

TEST(DirectoryCopy, IsMadeWhereAFileCannotBeRead) {
  const auto empty = [](const fs::path& directory) { files::write_file(directory / "empty", {}); };
  const auto unreadable = [](const fs::path& directory) { make_unreadable(directory / "empty"); };
  with_two({empty, offer}, {unreadable, [](RankGroup& group) {
                              const OfferedDirectory offered(group);
                              EXPECT_TRUE(offered.is_copy());
                              EXPECT_EQ(files::read_file(offered.path() / "empty"), "");
                            }});
}

TEST(DirectoryCopy, SaysThatAFileOfRank0CannotBeRead) {
  const auto unreadable = [](const fs::path& directory) {
    write_checkpoint(directory);
    make_unreadable(directory / "unreadable");
  };
  const auto offer_all_the_same = [](RankGroup& group) {
    EXPECT_FALSE(offer_directory(group, kCheckpoint));
  };
  with_two({unreadable, offer_all_the_same}, {[](const fs::path&) {}, expect_copy});
}

TEST(DirectoryCopy, NeedsAPlace) {
  with_two({write_checkpoint, offer}, {[](const fs::path&) {},
                                       [](RankGroup& group) {
                                         ::setenv("TMPDIR", "/nowhere", 1);
                                         EXPECT_THAT(
                                             refusal([&] { OfferedDirectory offered(group); }),
                                             HasSubstr("set TMPDIR"));
                                       }});
}

}  // namespace
}  // namespace krl::libtorch
