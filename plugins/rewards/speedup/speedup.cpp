// Pays for speed over the baseline without rewarding noise: s is the geometric mean over the timed
// cases of the value in the speedup's 95 % interval that is closest to 1.
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>

#include <vector>

struct Speedup final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_TIME;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  std::string shape = "linear";
  double floor = 0;
  double cap = 3;
  std::vector<double> steps;
  static constexpr auto config = krl::config(
      krl::opt("shape", &Speedup::shape, "how a speedup is converted to a score")
          .one_of("linear|log|steps"),
      krl::opt("floor", &Speedup::floor, "speedups up to this value score 0").at_least(0),
      krl::opt("cap", &Speedup::cap, "speedups above this value score no higher").at_least(0),
      krl::free_opt("steps", KRL_ARRAY,
                    "shape steps: increasing speedups, each of which scores 1"));

  void start(const krl::Config& options, const krl::Context&) override {
    if (cap <= floor) krl::invalid_argument("cap must be larger than floor");
    if (shape == "log" && floor <= 0) krl::invalid_argument("shape log needs a floor above 0");
    steps = krl::list_option<double>(options, "steps");
    if (steps.empty() == (shape == "steps"))
      krl::invalid_argument("steps = [...] belongs to shape = \"steps\", and to no other");
    double last = floor;
    for (const double step : steps) {
      if (!(step > last) || step > cap)
        krl::invalid_argument("steps must rise, above floor and not above cap");
      last = step;
    }
  }

  // Computes, with c = clamp(s, floor, cap): linear c - floor, log log2(c / floor), steps the
  // number of steps reached. 0 without a time, and for a kernel that did not pass.
  double score(const krl::Turn& turn) override {
    const krl::Evaluation evaluation = turn.evaluation();
    const double s = evaluation.passed() ? certain_speedup(evaluation) : krl::kUnknown;
    if (std::isnan(s)) return 0;
    const double paid = std::clamp(s, floor, cap);
    if (shape == "linear") return paid - floor;
    if (shape == "log") return std::log2(paid / floor);
    return static_cast<double>(std::upper_bound(steps.begin(), steps.end(), paid) - steps.begin());
  }

 private:
  // 1 if the interval holds 1; else its lower end, or its upper end if the kernel is slower. So it
  // rises with either end, and never jumps. A backend may know one end only.
  static double certain_speedup(const krl::Case& c) {
    if (c.speedup_low > 1) return c.speedup_low;
    return std::fmin(1.0, std::fmax(c.speedup_low, c.speedup_high));
  }

  // NaN = not timed.
  static double certain_speedup(const krl::Evaluation& evaluation) {
    double log_sum = 0;
    unsigned timed = 0;
    for (const krl::Case& c : evaluation.cases) {
      if (c.kind != krl::CaseKind::kShown || !c.timed()) continue;
      log_sum += std::log(certain_speedup(c));
      ++timed;
    }
    return timed == 0 ? krl::kUnknown : std::exp(log_sum / timed);
  }
};

KRL_PLUGIN("speedup", "1.0.0",
           krl::reward<Speedup>("speedup", "Pays for kernels faster than the baseline"))
