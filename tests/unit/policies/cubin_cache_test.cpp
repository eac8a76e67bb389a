// Kernels that are kept on disk; compiling them needs no GPU.
#include "plugins/policies/libtorch/cuda/cubin_cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "plugins/files/file.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

namespace fs = std::filesystem;

constexpr const char* kSource = "extern \"C\" __global__ void kernel() {}";

class CubinCache : public ::testing::Test {
 protected:
  CubinCache() { set_folder(directory_.path()); }
  ~CubinCache() override { ::unsetenv("KERNELRL_CACHE_DIR"); }

  static void set_folder(const fs::path& folder) {
    ::setenv("KERNELRL_CACHE_DIR", folder.c_str(), /*overwrite=*/1);
  }
  static std::string cubin() { return cached_cubin("kernel", kSource, {}, "sm_90a"); }

  // The one file in the cache.
  fs::path file() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() / "kernels"))
      if (entry.is_regular_file()) found.push_back(entry.path());
    EXPECT_EQ(found.size(), 1u);
    return found.at(0);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(CubinCache, GivesWhatIsThere) {
  const std::string made = cubin();
  EXPECT_EQ(made.substr(1, 3), "ELF");
  const auto written = fs::last_write_time(file());
  EXPECT_EQ(cubin(), made);
  EXPECT_EQ(fs::last_write_time(file()), written);
}

TEST_F(CubinCache, WhatIsDamagedIsCompiledAgain) {
  const std::string made = cubin(), whole = files::read_file(file());
  std::string other = whole;
  other[other.size() / 2] ^= 1;
  for (const std::string& damaged : {std::string(), whole.substr(0, whole.size() / 2), other}) {
    files::write_file(file(), {damaged});
    EXPECT_EQ(cubin(), made);
    EXPECT_EQ(files::read_file(file()), whole);
  }
}

TEST_F(CubinCache, AFolderThatCannotBeWrittenIsNoTrouble) {
  files::write_file(directory_.path() / "file", {"no folder"});
  set_folder(directory_.path() / "file");
  EXPECT_EQ(cubin().substr(1, 3), "ELF");
}

}  // namespace
}  // namespace krl::libtorch
