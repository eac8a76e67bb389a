// A policy that gives the answer of a file to every request: a baseline to compare others with.
#include <kernelrl/sdk.hpp>

#include <fstream>
#include <iterator>
#include <string>

struct Recorded final : krl::Policy {
  std::string path;
  static constexpr auto config =
      krl::config(krl::opt("answer", &Recorded::path, "file with the answer").path().required());

  void start(const krl::Config&, const krl::Context&) override {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw krl::Failure(KRL_NOT_FOUND, "cannot read " + path);
    answer_.assign(std::istreambuf_iterator<char>(file), {});
  }

  krl::PolicyInfo describe() override {
    krl::PolicyInfo info;
    info.has_tokens = false;
    info.description = "the answer in " + path;
    return info;
  }

  void sample(const krl::Requests& requests, const krl::SampleSink& sink,
              const krl::Context& context) override {
    for (std::uint32_t r = 0; r < requests.size(); ++r) {
      for (std::uint32_t k = 0; k < requests[r].n_samples(); ++k) {
        context.throw_if_cancelled();
        krl_sample sample{};
        sample.request = r;
        sample.index = k;
        sample.stop_reason = KRL_STOP_END;
        sample.text = krl::to_c(answer_);
        sink.put(sample);
      }
    }
  }

  void tokenize(const krl::Messages&, std::string_view, const krl::SampleSink&,
                const krl::Context&) override {
    throw krl::Failure(KRL_UNIMPLEMENTED, "a recorded answer has no tokens");
  }

 private:
  std::string answer_;
};

KRL_PLUGIN("recorded", "1.0.0", krl::policy<Recorded>("example.recorded", "Replays a file"))
