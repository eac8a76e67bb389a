// A penalty for kernels that use many registers, which leaves room for few threads.
#include <kernelrl/sdk.hpp>

struct RegisterPressure final : krl::Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_REGISTERS;
  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_DETERMINISTIC;

  double limit = 64;
  static constexpr auto config = krl::config(
      krl::opt("limit", &RegisterPressure::limit, "registers per thread without a penalty")
          .range(16, 254));

  // 0 up to `limit` registers in the neediest kernel, falling to -1 at the hardware's 255.
  double score(const krl::Turn& turn) override {
    const double used = turn.evaluation().max_registers();
    return -std::clamp((used - limit) / (255 - limit), 0.0, 1.0);
  }
};

KRL_PLUGIN("register_pressure", "1.0.0",
           krl::reward<RegisterPressure>("register_pressure",
                                         "Penalises kernels that use many registers"))
