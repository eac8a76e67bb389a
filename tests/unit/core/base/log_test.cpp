#include "core/base/log.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "core/base/file_system.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::core {
namespace {

const std::string kTime = "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} ";

// What `write` leaves in a log.
template <class Function>
std::string log_of(const Function& write) {
  const test::ScratchFolder folder;
  const auto file = folder / "logs.log";
  EXPECT_TRUE(start_log(file));
  write();
  stop_log();
  return read_file(file).value_or("");
}

TEST(Log, HasOneLineForOneRecord) {
  const std::string text = log_of([] {
    log(Severity::kWarning, "one\n2026-01-01 00:00:00.000 error   forged\x1b[2J\xff");
    log(Severity::kInfo, "two");
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex(kTime + "warning one 2026-01-01 00:00:00.000 error   forged \\[2J\\?\n" +
                       kTime + "info    two\n")))
      << text;
}

TEST(Log, HasOneRecordForEachLineOfAText) {
  const std::string text = log_of([] {
    log_lines(Severity::kError, "x.toml:1:5: error: no\n  1 | use\n\n    |  ^\n\n");
    log_lines(Severity::kError, "");
  });
  EXPECT_TRUE(std::regex_match(
      text, std::regex(kTime + "error   x.toml:1:5: error: no\n" + kTime + "error     1 \\| use\n" +
                       kTime + "error   \n" + kTime + "error       \\|  \\^\n")))
      << text;
}

TEST(Log, CutsALongMessage) {
  const std::string text = log_of([] { log(Severity::kError, std::string(50'000'000, 'x')); });
  EXPECT_LT(text.size(), 17'000u);
  EXPECT_TRUE(text.ends_with("x … (50000000 bytes in all)\n"));
}

TEST(Log, LastWordsLookLikeTheOthers) {
  const std::string text = log_of([] {
    log(Severity::kError, "before");
    log_last_words("one\n  two\n");
    log(Severity::kError, "after");
  });
  EXPECT_TRUE(
      std::regex_match(text, std::regex(kTime + "error   before\n" + kTime + "error   one\n" +
                                        kTime + "error     two\n" + kTime + "error   after\n")))
      << text;
}

TEST(Log, WhatWasHeldComesFirst) {
  hold_log();
  log(Severity::kDebug, "too fine");
  log(Severity::kWarning, "early");
  const std::string text = log_of([] { log(Severity::kInfo, "late"); });
  EXPECT_TRUE(
      std::regex_match(text, std::regex(kTime + "warning early\n" + kTime + "info    late\n")))
      << text;
}

TEST(Log, ThatIsNotOpenTakesNoLastWords) {
  log_last_words("one\n");
  EXPECT_EQ(log_of([] {}), "");
}

}  // namespace
}  // namespace krl::core
