#include "cli/command_line.hpp"

#include <algorithm>
#include <fstream>
#include <kernelrl/spelling.hpp>
#include <sstream>

#include "cli/completion.hpp"
#include "cli/console.hpp"

namespace krl::cli {
namespace po = boost::program_options;
namespace {

// No abbreviations and no guessing: an option added later must not change the meaning of a call.
constexpr int kStyle = po::command_line_style::unix_style ^ po::command_line_style::allow_guessing;

}  // namespace

Words process_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  Words words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

CommandLine::CommandLine(std::string usage, std::string about)
    : usage_(std::move(usage)), about_(std::move(about)) {
  shown_.add_options()("help,h", "this text");
}

void CommandLine::option(const char* name, const char* value, const char* about,
                         const char* otherwise) {
  auto* const text = po::value<std::string>()->value_name(value);
  options()(name, otherwise == nullptr ? text : text->default_value(otherwise), about);
}

void CommandLine::repeatable(const char* name, const char* value, const char* about) {
  options()(name, po::value<Words>()->value_name(value), about);
}

void CommandLine::flag(const char* name, const char* about) { options()(name, about); }

po::options_description_easy_init CommandLine::options() { return shown_.add_options(); }

void CommandLine::positional(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    hidden_.add_options()(name.c_str(), po::value<std::string>());
    positional_.add(name.c_str(), 1);
  }
}

void CommandLine::rest(const std::string& name) {
  hidden_.add_options()(name.c_str(), po::value<Words>());
  positional_.add(name.c_str(), -1);
}

std::optional<int> CommandLine::parse(const Words& words) {
  if (is_completing()) {
    const bool value = !words.empty() && takes_value(words.back());
    for (const std::string& word : completions(words, known_options(), value, usage_))
      print(word + "\n");
    return kDone;
  }
  po::options_description all;
  all.add(shown_).add(hidden_);
  try {
    po::store(
        po::command_line_parser(words).options(all).positional(positional_).style(kStyle).run(),
        values_);
    if (has("help")) {
      std::ostringstream text;
      text << "Usage: " << usage_ << "\n" << about_ << "\n" << shown_;
      print(text.str());
      return kDone;
    }
    po::notify(values_);
  } catch (const po::error& error) {
    return explain(error);
  }
  return std::nullopt;
}

Words CommandLine::texts(const std::string& name) const {
  return has(name) ? values_[name].as<Words>() : Words();
}

int CommandLine::wrong(const std::string& what) const {
  print_error("kernelrl: error: " + what + "\nUsage: " + usage_ + "\n");
  return kWrongCall;
}

std::optional<int> CommandLine::unknown(const std::string& subcommand, const Words& known) const {
  if (std::find(known.begin(), known.end(), subcommand) != known.end()) return std::nullopt;
  return wrong(
      (subcommand.empty() ? "no subcommand given" : "unknown subcommand '" + subcommand + "'") +
      did_you_mean(subcommand, known));
}

std::vector<std::string> CommandLine::known_options() const {
  std::vector<std::string> known;
  for (const auto& option : shown_.options()) known.push_back("--" + option->long_name());
  return known;
}

bool CommandLine::takes_value(const std::string& word) const {
  if (!word.starts_with("-")) return false;
  const std::string name = word.starts_with("--") ? word.substr(2) : word;
  const auto* option = shown_.find_nothrow(name, false);
  return option != nullptr && option->semantic()->max_tokens() > 0;
}

int CommandLine::explain(const po::error& error) const {
  if (dynamic_cast<const po::too_many_positional_options_error*>(&error) != nullptr) {
    return wrong("too many arguments");
  }
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    const std::string name = unknown->get_option_name();
    return wrong("unknown option '" + name + "'" +
                 did_you_mean(name, known_options(), "; --help lists them"));
  }
  return wrong(error.what());
}

}  // namespace krl::cli
