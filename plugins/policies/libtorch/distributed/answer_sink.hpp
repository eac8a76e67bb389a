// Receives the answers to some of a call's requests, as an object behind the boundary's sink.
#pragma once

#include <cstdint>
#include <kernelrl/policy.hpp>
#include <string_view>

namespace krl::libtorch {

class AnswerSink {
 public:
  AnswerSink() = default;
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;
  virtual ~AnswerSink() = default;

  // Correspond to krl_sample_sink. A krl::Failure that either throws ends the call.
  virtual void put(krl_sample sample) = 0;
  virtual void fail(std::uint32_t request, krl_status status, std::string_view why) = 0;

  SampleSink sink() const { return SampleSink(&c_); }

 private:
  template <class Call>
  static krl_status status_of(const Call& call) {
    try {
      call();
      return KRL_OK;
    } catch (const Failure& failure) {
      return failure.code();
    }
  }
  static AnswerSink& of(const krl_sample_sink* c) { return *static_cast<AnswerSink*>(c->ctx); }

  static krl_status put_c(const krl_sample_sink* c, const krl_sample* sample) {
    return status_of([&] { of(c).put(*sample); });
  }
  static krl_status fail_c(const krl_sample_sink* c, std::uint32_t request, krl_status status,
                           krl_str why) {
    return status_of([&] { of(c).fail(request, status, view(why)); });
  }

  const krl_sample_sink c_{sizeof c_, 0, this, put_c, fail_c};
};

}  // namespace krl::libtorch
