// Text templates: `{{name}}` is replaced by a value.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace krl {

// An immutable, parsed template. A line that holds nothing but placeholders whose values are empty
// leaves no line behind.
class Template {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;

  // `known`: the names that may be used; another one is an error with its line and column in
  // `origin`.
  static Result<Template> parse(std::string_view text, const std::vector<std::string>& known,
                                std::string_view origin);
  static Result<Template> read(const std::filesystem::path& file,
                               const std::vector<std::string>& known);

  // REQUIRES: `values` holds every name that parse() was told of.
  std::string render(const Values& values) const;

 private:
  struct Piece {
    std::string text;
    bool is_name = false;
  };
  using Line = std::vector<Piece>;
  std::vector<Line> lines_;
};

}  // namespace krl
