#include "core/run/run_record.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace krl::core {
namespace {

TEST(ResumeCommand, IsTheSameFromEveryFolder) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(resume_command("kernelrl", "/runs/x"), "kernelrl runs resume /runs/x");
  EXPECT_EQ(resume_command("bin/kernelrl", "runs/../x"),
            here + "/bin/kernelrl runs resume " + here + "/x");
}

TEST(ResumeCommand, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(resume_command("kernelrl", "/the runs/x"), "kernelrl runs resume '/the runs/x'");
  EXPECT_EQ(shell_word("it's $HOME"), R"('it'\''s $HOME')");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace krl::core
