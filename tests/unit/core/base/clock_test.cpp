#include "core/base/clock.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(Clock, WritesTimesAsIso8601) {
  EXPECT_EQ(iso_time(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(iso_time(1772368496.75), "2026-03-01T12:34:56Z");
}

TEST(Clock, GoesOn) {
  const double before = unix_seconds();
  EXPECT_GT(before, 1.6e9);
  EXPECT_GE(unix_seconds(), before);
}

}  // namespace
}  // namespace krl::core
