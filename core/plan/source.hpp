// Texts that plans are read from, the origins of values, and the problems in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "core/base/result.hpp"

namespace krl::core {

// A text that plans are read from. The n-th `--set` argument is line n of the source "--set".
struct Source {
  std::string name;              // as shown to the user: the path as given, or "--set"
  std::filesystem::path folder;  // absolute; relative paths inside the text start here
  std::string text;
  std::size_t order = 0;  // errors are listed in this order

  // Returns line `number` (from 1) without its end; empty if there is none.
  std::string_view line(std::uint32_t number) const;
};

// Where a value of a plan came from: a file, a `--set` argument, or the built-in defaults. A value;
// copies share the text of their source, so that an error found long after loading can still show
// the line. Const access from many threads is safe.
struct Origin {
  std::shared_ptr<const Source> source;  // null: a built-in default
  std::uint32_t line = 0;                // from 1; 0: the source as a whole
  std::uint32_t column = 0;              // from 1, in code points
  std::uint32_t length = 1;              // code points to underline

  bool is_default() const { return source == nullptr; }

  // The folder that relative paths of this value start from; empty for a default.
  std::filesystem::path folder() const;

  // "configs/x.toml:31:1", "--set", or "default".
  std::string text() const;
  // The same without the column.
  std::string line_text() const;
};

// Reads a plan or a text that it names: a regular file of at most 1 MiB; else explains why not,
// "'x.toml' is a folder". Never blocks: pipes and devices are refused. Thread-safe.
tl::expected<std::string, std::string> read_text_file(const std::filesystem::path& file);

// The problems of a plan, and how they are shown:
//
//   configs/x.toml:31:1: error: unknown key 'wieght' for reward 'speedup'
//     31 | wieght = 0.5
//        | ^~~~~~ did you mean 'weight'?   known keys: cap, floor, weight, when
//
// Plain values; thread-safe as such.
struct Problem {
  Origin origin;
  std::string message;
  std::string hint;  // advice; may be empty
};

// Renders the problem as above, ending in a newline; further lines of the message follow, indented.
// Unprintable bytes are shown as '?', a long line in part.
std::string rendered(const Problem& problem);

// All problems, sorted by source, line and column, without repetitions; at most 100 are shown.
std::string rendered(std::vector<Problem> problems);

// Returns "configs/x.toml:12:1: note: …", on one line without its end, for a fact that is right,
// but may surprise.
std::string note_at(const Origin& origin, std::string_view message);

// The error of a plan that turned out wrong after it was loaded.
Error problem_at(const Origin& origin, std::string message, std::string hint = {});

}  // namespace krl::core
