// Pays for reasoning before the kernel, if the prompt asks for it. Within the limits every length
// scores the same and only distinct words count, so that neither length nor repetition pays.
#include <kernelrl/sdk.hpp>

#include <set>
#include <sstream>

struct Thinking final : krl::Reward {
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string asked_by = "<think>";
  std::int64_t min_words = 5;
  std::int64_t max_words = 400;
  static constexpr auto config = krl::config(
      krl::opt("asked_by", &Thinking::asked_by, "text that marks a prompt as asking for reasoning"),
      krl::opt("min_words", &Thinking::min_words, "minimum number of distinct words").at_least(1),
      krl::opt("max_words", &Thinking::max_words, "maximum number of words").at_least(1));

  void start(const krl::Config&, const krl::Context&) override {
    if (min_words > max_words) krl::invalid_argument("min_words is larger than max_words");
  }

  // 1 if asked for and within the limits, else 0.
  double score(const krl::Turn& turn) override {
    if (turn.prompt().find(asked_by) == std::string_view::npos) return 0;
    std::istringstream thought{std::string(turn.thinking())};
    std::set<std::string> different;
    std::int64_t words = 0;
    for (std::string word; thought >> word; ++words) different.insert(word);
    return words <= max_words && static_cast<std::int64_t>(different.size()) >= min_words ? 1 : 0;
  }
};

KRL_PLUGIN("thinking", "1.0.0",
           krl::reward<Thinking>("thinking", "Pays for reasoning of reasonable length"))
