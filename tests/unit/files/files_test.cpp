#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <kernelrl/values.hpp>
#include <string>
#include <thread>

#include "plugins/files/digest.hpp"
#include "plugins/files/disk_cache.hpp"
#include "plugins/files/file.hpp"

namespace krl::files {
namespace {

namespace fs = std::filesystem;

TEST(FileTest, SaysThatTheDiskIsFull) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "skipped: no /dev/full";
  try {
    write_file("/dev/full", {"x"});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_RESOURCE_EXHAUSTED);
    EXPECT_NE(std::string(failure.what()).find("/dev/full"), std::string::npos);
  }
}

TEST(FileTest, ReadsWhatHasNoSize) {
  EXPECT_NE(read_file("/proc/self/status").find("Pid:"), std::string::npos);
}

TEST(FileTest, MissingFileIsNotFoundOrEmpty) {
  const fs::path missing = "/proc/krl_no_such_file";
  EXPECT_EQ(read_file_or_empty(missing), "");
  try {
    read_file(missing);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_NOT_FOUND);
    EXPECT_NE(std::string(failure.what()).find(missing.string()), std::string::npos);
  }
}

std::string key_of(int number) { return Digest().add(static_cast<std::uint64_t>(number)).hex(); }

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("krl_cache_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path file_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key; }

  fs::path folder_;
};

TEST(DigestTest, IsSha256AndSeparatesTexts) {
  const auto digest = sha256("abc");
  EXPECT_EQ(digest[0], 0xba);
  EXPECT_EQ(digest[31], 0xad);
  EXPECT_EQ(sha256_hex("abc").substr(0, 8), "ba7816bf");
  EXPECT_NE(Digest().add("ab").add("c").hex(), Digest().add("a").add("bc").hex());
}

TEST_F(DiskCacheTest, GivesBackWhatWasPut) {
  DiskCache cache(folder_, 1 << 20);
  EXPECT_FALSE(cache.get(key_of(1)));
  EXPECT_TRUE(cache.put(key_of(1), "content"));
  EXPECT_EQ(cache.get(key_of(1)), "content");
  EXPECT_EQ(DiskCache(folder_, 1 << 20).get(key_of(1)), "content");
}

TEST_F(DiskCacheTest, ForgetsWhatIsCorrupt) {
  DiskCache cache(folder_, 1 << 20);
  for (const auto damage : {0, 40}) {  // the checksum, the content
    cache.put(key_of(1), "some content that is long enough");
    std::fstream file(file_of(key_of(1)), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(damage);
    file.put('\0');
    file.close();
    EXPECT_FALSE(cache.get(key_of(1)));
    EXPECT_FALSE(fs::exists(file_of(key_of(1))));
  }
  cache.put(key_of(1), "some content that is long enough");
  fs::resize_file(file_of(key_of(1)), 35);
  EXPECT_FALSE(cache.get(key_of(1)));
}

TEST_F(DiskCacheTest, StaysBelowItsSizeAndKeepsWhatIsUsed) {
  DiskCache cache(folder_, 20'000);
  const std::string content(1000, 'x');
  for (int i = 0; i < 100; ++i) {
    cache.put(key_of(i), content);
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(200 - i);
    std::error_code gone;
    fs::last_write_time(file_of(key_of(i)), old, gone);
    EXPECT_TRUE(i == 0 || cache.get(key_of(0))) << i;  // used all the time
  }
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LE(bytes, 21'100u);
  EXPECT_FALSE(cache.get(key_of(1)));
}

TEST_F(DiskCacheTest, IsNoErrorWhereNothingCanBeWritten) {
  DiskCache cache("/proc/krl_no_such_folder", 1 << 20);
  EXPECT_FALSE(cache.put(key_of(1), "x"));
  EXPECT_FALSE(cache.get(key_of(1)));
}

// A writer that is killed at any moment leaves whole entries or none.
TEST_F(DiskCacheTest, SurvivesKilledWriters) {
  const std::string content(100'000, 'y');
  for (int round = 0; round < 10; ++round) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      DiskCache cache(folder_, 1 << 30);
      for (int i = 0;; ++i) cache.put(key_of(i % 50), content);
    }
    while (!fs::exists(file_of(key_of(round)))) std::this_thread::yield();
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    DiskCache cache(folder_, 1 << 30);
    for (int i = 0; i < 50; ++i) {
      const bool there = fs::exists(file_of(key_of(i)));
      const auto entry = cache.get(key_of(i));
      EXPECT_EQ(entry.has_value(), there);
      EXPECT_TRUE(!entry || *entry == content);
    }
  }
}

}  // namespace
}  // namespace krl::files
