// Changes that make a wrong kernel of a right one: each is one place of the source with another
// text. Collectors find them by kind, without a compiler: a change may give something that does not
// compile, or that computes the same.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "service/mutation/code_text.hpp"

namespace krl::service {

struct Change {
  std::string_view kind;  // "bound_off_by_one"
  std::size_t offset = 0, length = 0;
  std::string text;
};

using Changes = std::vector<Change>;

// A word of the source, and one in its place.
struct Swap {
  std::string_view kind, from, to;
};

// Collects the swaps that begin with the token.
void collect_swaps(const CodeToken& token, std::span<const Swap> swaps, Changes& changes);

void collect_comparisons(const CodeText& code, Changes& changes);
void collect_arithmetic(const CodeText& code, Changes& changes);
void collect_constants(const CodeText& code, Changes& changes);
void collect_functions(const CodeText& code, Changes& changes);
void collect_names(const CodeText& code, Changes& changes);
void collect_types(const CodeText& code, Changes& changes);
void collect_statements(const CodeText& code, Changes& changes);
void collect_loops(const CodeText& code, Changes& changes);
void collect_directives(const CodeText& code, Changes& changes);

// All of them, in the order of the source; none twice.
Changes changes_of(const CodeText& code);

// Returns the changes of the PTX that follows KRL_PTX_MARK in a source.
Changes ptx_changes_of(const std::string& source);

// The source with the change made.
std::string changed(const std::string& source, const Change& change);

// True if the change's error shows only at sizes that an emulator cannot execute: numbers that need
// more than 16 bits, counts beyond 2^24.
bool needs_size(std::string_view kind);

// True if the change makes a kernel wrong even where the bits agree: it reads a value that nobody
// wrote, or relies on an order that nobody ensures.
bool is_undefined(std::string_view kind);

}  // namespace krl::service
