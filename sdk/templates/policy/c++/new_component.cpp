// Answers every request with the same kernel: replace it with a model, or with a server that has one.
#include <kernelrl/sdk.hpp>

#include <string>

struct NewComponent final : krl::Policy {
  std::string answer = "<KERNEL>\n```cuda\n__global__ void kern() {}\n```\n</KERNEL>";
  static constexpr std::uint32_t flags = KRL_DETERMINISTIC;
  static constexpr auto config =
      krl::config(krl::opt("answer", &NewComponent::answer, "the only answer"));

  krl::PolicyInfo describe() override {
    krl::PolicyInfo info;
    info.has_tokens = false;  // without them it can be evaluated and searched with, but not trained
    info.description = "one answer";
    return info;
  }

  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context& context) override {
    for (std::uint32_t i = 0; i < requests.size(); ++i) {
      context.throw_if_cancelled();
      for (std::uint32_t k = 0; k < requests[i].n_samples(); ++k)
        sink.put(i, k, KRL_STOP_END, answer);
    }
  }
};

KRL_PLUGIN("new_component", "0.1.0",
           krl::policy<NewComponent>("new_vendor.new_component", "One answer to everything"))
