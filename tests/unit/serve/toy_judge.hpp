// A judge over the toy components, whose kernels are "choice 0" (does not compile) to "choice 3"
// (right, and twice as fast as the baseline).
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "serve/judging/judge_service.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::serve::testing {

struct ToyJudge {
  explicit ToyJudge(const test::ToyWorld& world, const test::Overrides& changes = {})
      : plan(world.load(changes).value()), session(world.registry()) {}

  // The body of a request; `more` members begin with a comma.
  static std::string request(int choice, const std::string& note = {},
                             const std::string& more = {}) {
    return R"({"task": "toy_0", "source": "__global__ void k() {}  // )" + note + " choice " +
           std::to_string(choice) + "\"" + more + "}";
  }

  Plan plan;
  core::Session session;
};

}  // namespace krl::serve::testing
