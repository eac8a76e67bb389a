// TOML text into Nodes: the only place that knows the TOML library. Thread-safe; hostile text is an
// error, never a crash.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "core/plan/node.hpp"
#include "core/plan/problem.hpp"

namespace krl {

// The whole text of `source` as a table.
tl::expected<Node, Problem> read_toml(const std::shared_ptr<const Source>& source);

// A value such as `3`, `"x"` or `{ a = 1 }`. `at` is where its text starts; a value that does not
// come from a user's text has a default origin.
tl::expected<Node, Problem> read_toml_value(const std::string& text, const Origin& at);

// Whether a key needs no quotes in TOML: letters, digits, '_' and '-'.
bool is_bare_key(std::string_view key);

}  // namespace krl
