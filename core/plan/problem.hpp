// What is wrong with a plan, and how it is shown:
//
//   configs/x.toml:31:1: error: unknown key 'wieght' for reward 'speedup'
//     31 | wieght = 0.5
//        | ^~~~~~ did you mean 'weight'?   known keys: cap, floor, weight, when
//
// Plain values; thread-safe as such.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/source.hpp"

namespace krl {

struct Problem {
  Origin origin;
  std::string message;
  std::string hint;  // what to do; may be empty
};

// As above, ending in a newline; further lines of the message follow, indented. Unprintable bytes
// are shown as '?', a long line in part.
std::string rendered(const Problem& problem);

// All problems, sorted by source, line and column, without repetitions; at most 100 are shown.
std::string rendered(std::vector<Problem> problems);

// "configs/x.toml:12:1: note: …", on one line without its end: what is right, and may surprise.
std::string note_at(const Origin& origin, std::string_view message);

// The error of a plan that turned out wrong after it was loaded.
Error problem_at(const Origin& origin, std::string message, std::string hint = {});

}  // namespace krl
