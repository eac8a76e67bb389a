// Maps instructions to lines of the candidate's file, through .file and .loc. A candidate can write
// both itself, in inline assembly, so lines are only for messages, and nothing may rely on them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/backends/ptx/tokens.hpp"

namespace krl::ptx {

class SourceLines {
 public:
  // Both after the directive's own name.
  void read_file(Tokens& tokens);
  void read_place(Tokens& tokens);

  // Number of the last .loc, an index into the final `lines`; 0: none yet.
  std::uint32_t place() const { return place_; }
  void forget_place() { place_ = 0; }

  std::vector<std::string> files() const;
  // True if a .file names it.
  bool names(std::string_view candidate_file) const;
  // Per place: the line of the candidate's file, the outermost one where it is inlined; 0: none.
  std::vector<std::uint32_t> lines(std::string_view candidate_file) const;

 private:
  struct Position {
    std::uint32_t file = 0, line = 0, column = 0;
    bool operator<(const Position& other) const;
  };
  struct Loc {
    Position position;
    std::uint32_t outer = 0;  // the place at which it is inlined; always an earlier one
  };
  static Position read_position(Tokens& tokens);
  std::uint32_t add(const Position& position, std::uint32_t outer);

  std::map<std::uint32_t, std::string> files_;
  std::vector<Loc> locs_{1};
  std::map<Position, std::uint32_t> latest_;
  std::uint32_t place_ = 0;
};

}  // namespace krl::ptx
