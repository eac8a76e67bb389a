// The words of one command of the program, read with Boost.Program_options: options, their help,
// and errors with advice. Main thread only.
#pragma once

#include <boost/program_options.hpp>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::cli {

using Words = std::vector<std::string>;

// The words this process was started with.
Words process_words();

// The number that is all of `text`; none for any other text.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

class CommandLine {
 public:
  // `usage`: "kernelrl check PLAN [--set KEY=VALUE]…"; `about`: a description of the call, a few
  // lines.
  CommandLine(std::string usage, std::string about);

  // Each adds an option: one with a text, "--name VALUE", which is `otherwise` if the call has none;
  // one that may be given several times; one without a value.
  void option(const char* name, const char* value, const char* about,
              const char* otherwise = nullptr);
  void repeatable(const char* name, const char* value, const char* about);
  void flag(const char* name, const char* about);
  // Adds options as Boost's easy_init does: ("set", value<Words>(), "…").
  boost::program_options::options_description_easy_init options();

  // Words without "--" go to the options of these names, one each, in this order.
  void positional(const std::vector<std::string>& names);
  // Any number of further such words go to this option.
  void rest(const std::string& name);

  // Reads the words. An exit code if the call is over: help was printed, or an error.
  std::optional<int> parse(const Words& words);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  // REQUIRES: has(name), and the option's type is std::string.
  const std::string& text(const std::string& name) const { return values_[name].as<std::string>(); }
  std::string text_or(const std::string& name, const std::string& otherwise = "") const {
    return has(name) ? text(name) : otherwise;
  }
  // All values of a repeatable option.
  Words texts(const std::string& name) const;

  // Prints the error in the call; returns the exit code.
  int wrong(const std::string& what) const;
  // The same of a subcommand that is none of these; nothing if it is one.
  std::optional<int> unknown(const std::string& subcommand, const Words& known) const;

 private:
  int explain(const boost::program_options::error& error) const;
  std::vector<std::string> known_options() const;
  bool takes_value(const std::string& word) const;  // as "--task" and "-n" do

  std::string usage_, about_;
  boost::program_options::options_description shown_{"Options"};
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positional_;
  boost::program_options::variables_map values_;
};

}  // namespace krl::cli
