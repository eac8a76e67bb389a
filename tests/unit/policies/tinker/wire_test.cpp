// Answers that are not what the protocol says.
#include <gtest/gtest.h>

#include <cmath>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/policies/tinker/json.hpp"

namespace krl::tinker {
namespace {

using nlohmann::json;

template <class T>
std::string refusal_of_json(const std::string& body) {
  try {
    from_json<T>(body);
  } catch (const Failure& error) {
    return error.what();
  }
  return "";
}

TEST(TinkerJson, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_EQ(refusal_of_json<Promise>("{").rfind("the answer: not valid JSON: ", 0), 0u);
  EXPECT_EQ(refusal_of_json<Promise>("[1]"), "the answer: must be an object");
  EXPECT_EQ(refusal_of_json<Promise>("{}"), "the answer: 'request_id' is missing");
  EXPECT_EQ(refusal_of_json<Promise>(R"({"request_id":""})"), "the answer.request_id: is empty");
  EXPECT_EQ(refusal_of_json<Promise>(R"({"request_id":[]})"),
            "the answer.request_id: must be a text");
  EXPECT_EQ(refusal_of_json<SampleAnswer>(R"({"sequences":7})"),
            "the answer.sequences: must be an array");
  EXPECT_EQ(refusal_of_json<SampleAnswer>(R"({"sequences":[7]})"),
            "the answer.sequences[0]: must be an object");
  EXPECT_EQ(
      refusal_of_json<SampleAnswer>(R"({"sequences":[{"tokens":[1],"stop_reason":"tired"}]})"),
      "the answer.sequences[0].stop_reason: unknown: \"tired\"");
  for (const char* token : {"-1", "2147483648", "1.5", "\"1\"", "null"}) {
    EXPECT_EQ(refusal_of_json<SampleAnswer>(R"({"sequences":[{"tokens":[)" + std::string(token) +
                                            R"(],"stop_reason":"stop"}]})"),
              "the answer.sequences[0].tokens[0]: must be a whole number from 0 to 2147483647")
        << token;
  }
  EXPECT_EQ(refusal_of_json<ForwardBackwardAnswer>(
                R"({"loss_fn_outputs":[{"logprobs":{"data":["x"]}}]})"),
            "the answer.loss_fn_outputs[0].logprobs.data[0]: must be a number");
  EXPECT_EQ(refusal_of_json<ForwardBackwardAnswer>(R"({"loss_fn_outputs":[{}]})"),
            "the answer.loss_fn_outputs[0]: 'logprobs' is missing");
}

TEST(TinkerJson, TakesNumbersForIdsAndNullForNoLogprob) {
  EXPECT_EQ(from_json<Promise>(R"({"request_id":12})").request_id, "12");
  const auto sample = from_json<SampleAnswer>(
      R"({"sequences":[{"tokens":[5],"logprobs":null,"stop_reason":"stop"}],)"
      R"("prompt_logprobs":[null,-2.5],"new_field":{}})");
  EXPECT_EQ(sample.sequences.at(0).logprobs.size(), 0u);
  EXPECT_TRUE(std::isnan(sample.prompt_logprobs.at(0)));
  EXPECT_EQ(sample.prompt_logprobs.at(1), -2.5f);
}

TEST(TinkerJson, StopTextsAndNoStopAtAll) {
  SampleRequest request;
  EXPECT_FALSE(json::parse(to_json(request))["sampling_params"].contains("stop"));
  EXPECT_FALSE(json::parse(to_json(request))["sampling_params"].contains("seed"));
  request.stop = std::vector<std::string>{"</KERNEL>"};
  EXPECT_EQ(json::parse(to_json(request))["sampling_params"]["stop"], json({"</KERNEL>"}));
}

TEST(TinkerJson, LoadsWeightsWithTheOptimizersState) {
  EXPECT_EQ(json::parse(to_json(LoadWeights{"m", 1, "tinker://m0/weights/a"})),
            json({{"model_id", "m"},
                  {"seq_id", 1},
                  {"path", "tinker://m0/weights/a"},
                  {"optimizer", true},
                  {"type", "load_weights"}}));
}

TEST(TinkerJson, WhatIsThereInPlaceOfAResult) {
  EXPECT_EQ(try_again_from_json(R"({"type":"try_again","queue_state":"active"})")->queue_state,
            "active");
  EXPECT_FALSE(try_again_from_json(R"({"type":"sample"})"));
  EXPECT_FALSE(try_again_from_json("oops"));
  const auto failure = failure_from_json(R"({"error":"too long","category":"user"})");
  EXPECT_EQ(failure->error, "too long");
  EXPECT_EQ(failure->category, "user");
  EXPECT_FALSE(failure_from_json(R"({"metrics":{}})"));
}

TEST(TinkerJson, AnErrorInALine) {
  EXPECT_EQ(error_text(R"({"detail":"Model not found"})"), "Model not found");
  EXPECT_EQ(error_text(R"({"detail":[{"msg":"bad","input":7},{"msg":"worse"}]})"), "bad; worse");
  EXPECT_EQ(error_text(R"({"error":{"code":7}})"), R"({"code":7})");
  EXPECT_EQ(error_text("Internal\nServer Error"), "Internal Server Error");
  EXPECT_EQ(error_text(std::string(1000, 'x')), std::string(300, 'x') + "…");
}

}  // namespace
}  // namespace krl::tinker
