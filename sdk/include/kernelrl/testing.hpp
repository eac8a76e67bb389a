// Tests plugins without kernelrl: the test supplies host, options and turns; everything passes
// through the C boundary. A unit test in five lines:
//
//   TEST(Speedup, PaysTheLowerBound) {
//     const krl::testing::Plugin plugin("./speedup.krl.so");
//     auto term = plugin.reward("speedup", {{"cap", 2.0}});
//     EXPECT_EQ(term.score(krl::testing::TurnBuilder().passed().speedup(1.5)), 1.5);
//   }
//
// Header-only C++17; needs no test framework. Throws krl::Failure where a call failed, and
// std::runtime_error where the plugin broke the rules of abi.h.
#pragma once

#include <kernelrl/testing/call.hpp>
#include <kernelrl/testing/description.hpp>
#include <kernelrl/testing/evaluation_receiver.hpp>
#include <kernelrl/testing/instance.hpp>
#include <kernelrl/testing/instances.hpp>
#include <kernelrl/testing/options.hpp>
#include <kernelrl/testing/plugin.hpp>
#include <kernelrl/testing/turn_builder.hpp>
