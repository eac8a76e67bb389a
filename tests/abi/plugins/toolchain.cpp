// A reward that needs a C++ runtime: strings, a map, an exception caught inside. Built by several
// compilers and against several runtimes; each must work in the same process.
#include <kernelrl/sdk.hpp>

#include <map>
#include <stdexcept>
#include <string>

struct Toolchain final : krl::Reward {
  std::string word = "kernel";
  static constexpr auto config =
      krl::config(krl::opt("word", &Toolchain::word, "the word whose letters are counted"));

  // The number of different letters of `word`.
  double score(const krl::Turn& turn) override {
    std::map<char, int> letters;
    for (const char c : word) ++letters[c];
    try {
      if (turn.answer().empty()) throw std::out_of_range("no answer");
    } catch (const std::out_of_range&) {
      return -static_cast<double>(letters.size());
    }
    if (turn.answer() == "fail") throw krl::Failure(KRL_UNAVAILABLE, "asked to fail by " + word);
    return static_cast<double>(letters.size());
  }
};

KRL_PLUGIN(TOOLCHAIN_ID, "1.0.0", krl::reward<Toolchain>("test." TOOLCHAIN_ID, "Counts letters"))
