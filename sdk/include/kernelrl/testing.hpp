// Tests of plugins without kernelrl: a host, options and turns made up by the test, everything
// through the C boundary. A unit test in five lines:
//
//   TEST(Speedup, PaysTheLowerBound) {
//     const krl::testing::Plugin plugin("./speedup.krl.so");
//     auto term = plugin.reward("speedup", {{"cap", 2.0}});
//     EXPECT_EQ(term.score(krl::testing::TurnBuilder().passed().speedup(1.5)), 1.5);
//   }
//
// Header-only C++17; no test framework needed. What a plugin does wrong is thrown: krl::Failure
// where a call failed, std::runtime_error where it broke the rules of abi.h.
#pragma once

#include <kernelrl/testing/call.hpp>
#include <kernelrl/testing/options.hpp>
#include <kernelrl/testing/plugin.hpp>
#include <kernelrl/testing/turn_builder.hpp>
