#include "core/base/file_system.hpp"

#include <gtest/gtest.h>

#include "tests/scratch_folder.hpp"
#include "tests/unit/core/base/faulty_file_system.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

TEST(FileSystem, AppendsWhatWasWritten) {
  const test::ScratchFolder folder;
  {
    const auto file = real_file_system().create(folder / "a");
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->append("one "));
    ASSERT_TRUE((*file)->sync());
  }
  ASSERT_TRUE((*real_file_system().open_to_append(folder / "a"))->append("two"));
  EXPECT_EQ(read_file(folder / "a"), "one two");
}

TEST(FileSystem, MakesFoldersWithTheirParentsAndRemovesTrees) {
  const test::ScratchFolder folder;
  FileSystem& files = real_file_system();
  ASSERT_TRUE(make_directories(files, folder / "a/b/c"));
  ASSERT_TRUE(make_directories(files, folder / "a/b/c"));
  ASSERT_TRUE(write_atomically(files, folder / "a/b/file", "x"));
  fs::create_directory_symlink(folder.path(), folder / "a/link");
  ASSERT_TRUE(remove_tree(files, folder / "a"));
  EXPECT_FALSE(fs::exists(folder / "a"));
  EXPECT_TRUE(fs::exists(folder.path())) << "a link must be removed, not what it points to";
  EXPECT_TRUE(remove_tree(files, folder / "a")) << "what is not there needs no removing";
}

TEST(FileSystem, SaysWhatFailedWhereAndWhy) {
  const auto file = real_file_system().create("/nowhere/at/all");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message, "cannot write /nowhere/at/all: no such file or directory");
  EXPECT_EQ(file.error().code, Code::kNotFound);
  EXPECT_EQ(file_error("write", "x", ENOSPC).code, Code::kResourceExhausted);
  EXPECT_EQ(file_error("write", "x", ENOSPC).message, "cannot write x: no space left on device");
}

// /dev/full is the kernel's own full disk.
TEST(FileSystem, ReportsARealFullDisk) {
  const auto file = real_file_system().open_to_append("/dev/full");
  ASSERT_TRUE(file) << file.error().message;
  const Status status = (*file)->append("x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::kResourceExhausted);
  EXPECT_EQ(status.error().message, "cannot write /dev/full: no space left on device");
}

TEST(WriteAtomically, LeavesTheOldOrTheNewContentWhereverItStops) {
  const test::ScratchFolder folder;
  const fs::path path = folder / "file";
  for (const bool power_lost : {false, true}) {
    bool completed = false;
    for (int operation = 1; !completed; ++operation) {
      ASSERT_TRUE(write_atomically(real_file_system(), path, "old content"));
      test::FaultyFileSystem files;
      files.stop_at(operation);
      completed = write_atomically(files, path, "new content").has_value();
      if (power_lost) files.lose_power();
      const std::string found = *read_file(path);
      EXPECT_TRUE(found == "old content" || found == "new content") << operation << ": " << found;
      EXPECT_TRUE(!completed || found == "new content");
      ASSERT_LT(operation, 100);
    }
  }
}

TEST(FaultyFileSystem, TakesBackWhatWasNotSynced) {
  const test::ScratchFolder folder;
  test::FaultyFileSystem files;
  const auto file = files.create(folder / "a");
  ASSERT_TRUE((*file)->append("kept"));
  ASSERT_TRUE((*file)->sync());
  ASSERT_TRUE(files.sync(folder.path()));
  ASSERT_TRUE((*file)->append(" lost"));
  ASSERT_TRUE((*files.create(folder / "b"))->append("lost"));
  files.lose_power();
  EXPECT_EQ(read_file(folder / "a"), "kept");
  EXPECT_FALSE(fs::exists(folder / "b"));
}

}  // namespace
}  // namespace krl::core
