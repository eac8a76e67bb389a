#include "core/base/file_system.hpp"

#include <gtest/gtest.h>

#include "tests/scratch_folder.hpp"
#include "tests/unit/core/base/faulty_file_system.hpp"

namespace krl::core {
namespace {

TEST(LineFile, CutsWhatIsBehindTheGivenSize) {
  const test::ScratchFolder folder;
  const auto path = folder / "lines";
  ASSERT_TRUE(write_atomically(real_file_system(), path, "one\ntwo\ntorn"));
  auto file = LineFile::open(path, size_of_whole_lines("one\ntwo\ntorn"), real_file_system());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 8u);
  ASSERT_TRUE(file->append("three"));
  EXPECT_EQ(file->size(), 14u);
  EXPECT_EQ(read_file(path), "one\ntwo\nthree\n");
}

TEST(LineFile, NeverCountsOnBytesThatAreNotThere) {
  const test::ScratchFolder folder;
  const auto file = LineFile::open(folder / "lines", 1000, real_file_system());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->size(), 0u);
}

TEST(LineFile, MayBeAppendedToAgainOnceAFullDiskHasRoom) {
  const test::ScratchFolder folder;
  test::FaultyFileSystem files;
  auto file = LineFile::open(folder / "lines", 0, files);
  ASSERT_TRUE(file->append("one"));
  files.set_full(true);
  for (int attempt = 0; attempt < 2; ++attempt) {
    const Status status = file->append("two two two");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::kResourceExhausted);
  }
  EXPECT_GT(read_file(folder / "lines")->size(), 4u)
      << "the fault must have torn the line, or this tests nothing";
  files.set_full(false);
  ASSERT_TRUE(file->append("three"));
  EXPECT_EQ(read_file(folder / "lines"), "one\nthree\n");
}

TEST(SizeOfWholeLines, EndsAfterTheLastNewline) {
  EXPECT_EQ(size_of_whole_lines(""), 0u);
  EXPECT_EQ(size_of_whole_lines("torn"), 0u);
  EXPECT_EQ(size_of_whole_lines("one\n"), 4u);
  EXPECT_EQ(size_of_whole_lines("one\ntorn"), 4u);
}

}  // namespace
}  // namespace krl::core
