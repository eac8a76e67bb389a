// Reads PTX text into a Module. Strict: text that the grammar of the PTX ISA does not allow, and
// every directive that is not known by name, is a problem with its line; nothing is skipped or
// guessed. The text is untrusted: it may be of any length and content. Pure; any thread. Time is
// proportional to the text's length, except for logarithms.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

// Limits on a module. They bound the memory of a reading to some hundred MiB.
struct ReadLimits {
  std::size_t text_bytes = 32u << 20;
  std::size_t instructions = 500'000;
  std::size_t operands = 3'000'000;  // and modifiers, of all instructions
  // Bytes of variables and parameters, including those of functions.
  std::size_t variable_bytes = 64u << 20;
  std::size_t registers = 1'000'000;
  // Declared names: variables, functions, labels, registers ("%r<9>" is one).
  std::size_t names = 200'000;
};

struct ReadProblem {
  enum Kind { kMalformed, kUnsupported, kTooLarge } kind = kMalformed;
  // "expected ';' instead of '2'"; unsupported: a name alone, "the directive '.alias'"; too large:
  // "too large: the variables of the module".
  std::string message;
  Place place;

  // Renders the problem, "line 12: unsupported: the directive '.alias'", with the candidate's line
  // if it is known, else with that of the PTX: "PTX, line 30: …".
  std::string text() const;
};

struct ReadResult {
  Module module;                       // usable only without a problem
  std::optional<ReadProblem> problem;  // the first
};

// `candidate_file`: the name of the candidate's own file in .file, whole or its last part
// ("kernel.cu"): Place::source counts its lines. If no .file has that name, the text is the
// candidate's own.
ReadResult read_module(std::string_view text, std::string_view candidate_file,
                       const ReadLimits& limits = {});

}  // namespace krl::ptx
