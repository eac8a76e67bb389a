// Where a value of a plan came from: a file, a `--set` argument, or the built-in defaults.
// Values; copies share the text of their source, so that an error found long after loading can
// still show the line. Const access from many threads is safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace krl {

// A text that plans are read from. The n-th `--set` argument is line n of the source "--set".
struct Source {
  std::string name;              // as shown to the user: the path as given, or "--set"
  std::filesystem::path folder;  // absolute; relative paths inside the text start here
  std::string text;
  std::size_t order = 0;  // errors are listed in this order

  // Line `number` (from 1) without its end; empty if there is none.
  std::string_view line(std::uint32_t number) const;
};

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

}  // namespace krl
