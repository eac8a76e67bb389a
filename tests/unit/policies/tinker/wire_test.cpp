// Answers that are not what the protocol says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "plugins/policies/tinker/wire/json.hpp"
#include "plugins/policies/tinker/wire/protobuf.hpp"

namespace krl::tinker {
namespace {

using nlohmann::json;

template <class T>
std::string refusal_of_json(const std::string& body) {
  try {
    from_json<T>(body);
  } catch (const WireError& error) {
    return error.what();
  }
  return "";
}

TEST(TinkerJson, SaysWhatIsWrongWithAnAnswer) {
  EXPECT_EQ(refusal_of_json<Promise>("{"), "not valid JSON");
  EXPECT_EQ(refusal_of_json<Promise>("[1]"), "not a JSON object");
  EXPECT_EQ(refusal_of_json<Promise>("{}"), "'request_id' is missing");
  EXPECT_EQ(refusal_of_json<Promise>(R"({"request_id":""})"), "'request_id' is empty");
  EXPECT_EQ(refusal_of_json<Promise>(R"({"request_id":[]})"), "'request_id' is not a string");
  EXPECT_EQ(refusal_of_json<SampleAnswer>(R"({"sequences":7})"), "'sequences' is not an array");
  EXPECT_EQ(refusal_of_json<SampleAnswer>(R"({"sequences":[7]})"),
            "no object that could hold 'tokens'");
  EXPECT_EQ(
      refusal_of_json<SampleAnswer>(R"({"sequences":[{"tokens":[1],"stop_reason":"tired"}]})"),
      "unknown 'stop_reason' \"tired\"");
  for (const char* token : {"-1", "2147483648", "1.5", "\"1\"", "null"}) {
    EXPECT_EQ(refusal_of_json<SampleAnswer>(R"({"sequences":[{"tokens":[)" + std::string(token) +
                                            R"(],"stop_reason":"stop"}]})"),
              "'tokens' contains something that is not a token id")
        << token;
  }
  EXPECT_EQ(refusal_of_json<ForwardBackwardAnswer>(
                R"({"loss_fn_outputs":[{"logprobs":{"data":["x"]}}]})"),
            "'logprobs' contains something that is not a number");
  EXPECT_EQ(refusal_of_json<ForwardBackwardAnswer>(R"({"loss_fn_outputs":[{}]})"),
            "'logprobs' is missing");
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

// Length-delimited fields of protobuf, by hand.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string varint(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}
template <class T>
std::string bytes_of(std::vector<T> values) {
  std::string bytes(values.size() * sizeof(T), 0);
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string outputs(const std::string& data, const std::vector<std::int64_t>& offsets, int type = 1,
                    int data_count = 2) {
  const std::string tensor = field(1, data) + field(2, bytes_of(offsets)) + varint(3, type);
  return field(2, field(2, field(1, "logprobs") + field(2, tensor)) + varint(3, data_count));
}

template <class T>
std::string refusal_of_protobuf(const std::string& body) {
  try {
    from_protobuf<T>(body);
  } catch (const WireError& error) {
    return error.what();
  }
  return "";
}

TEST(TinkerProtobuf, SeveralDataInOneRecord) {
  const auto answer = from_protobuf<ForwardBackwardAnswer>(
      outputs(bytes_of<float>({-1, -2, -3}), {0, 4, 12}) + field(9, "unknown"));
  EXPECT_EQ(answer.logprobs, (std::vector<std::vector<float>>{{-1}, {-2, -3}}));
}

TEST(TinkerProtobuf, SaysWhatIsWrongWithAnAnswer) {
  const std::string data = bytes_of<float>({-1, -2, -3});
  const auto refusal = refusal_of_protobuf<ForwardBackwardAnswer>;
  EXPECT_EQ(refusal("\xff\xff"), "not valid protobuf");
  EXPECT_EQ(refusal(field(2, "")), "'logprobs' is missing");
  EXPECT_EQ(refusal(outputs(data, {0, 4, 12}, 4)), "'logprobs' are not of type float32");
  EXPECT_EQ(refusal(outputs(data + "x", {0, 4, 13})), "'logprobs' ends inside a number");
  EXPECT_EQ(refusal(outputs(data, {0, 12})),
            "'offsets' has not one number more than there are data");
  EXPECT_EQ(refusal(outputs(data, {})), "'offsets' has not one number more than there are data");
  EXPECT_EQ(refusal(outputs(data, {0, 4, 8})), "'offsets' does not span 'data'");
  EXPECT_EQ(refusal(outputs(data, {0, 400, 12})), "'offsets' does not ascend by whole numbers");
  EXPECT_EQ(refusal(outputs(data, {0, -4, 12})), "'offsets' does not ascend by whole numbers");
  EXPECT_EQ(refusal(outputs(data, {0, 5, 12})), "'offsets' does not ascend by whole numbers");

  const auto sample = refusal_of_protobuf<SampleAnswer>;
  EXPECT_EQ(sample(field(1, field(2, "abc"))), "'tokens' ends inside a number");
  EXPECT_EQ(sample(field(1, field(2, bytes_of<std::int32_t>({-5})))),
            "'tokens' contains something that is not a token id");
  EXPECT_EQ(sample(field(1, varint(1, 2))), "unknown 'stop_reason' 2");
}

}  // namespace
}  // namespace krl::tinker
