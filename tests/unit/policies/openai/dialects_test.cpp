// What we would ask, and what real servers have answered.
#include <gtest/gtest.h>

#include <kernelrl/values.hpp>

#include "plugins/policies/openai/dialect.hpp"
#include "plugins/policies/openai/reply_stream.hpp"
#include "tests/unit/policies/openai/recording.hpp"

namespace krl::openai {
namespace {

using testing::Recording;
using testing::recording;

const std::vector<TokenId> kPrompt = {1, 4093, 198, 36218, 33662, 30, 2, 198, 1, 520, 9531, 198};
using Floats = std::vector<std::optional<float>>;

Ask ask_of(const Recording& recorded) {
  Ask ask;
  ask.model = "smol";
  if (recorded.body.contains("prompt")) recorded.body["prompt"].get_to(ask.prompt);
  if (recorded.body.contains("input_ids")) recorded.body["input_ids"].get_to(ask.prompt);
  ask.n = recorded.body.value("n", 1U);
  if (recorded.body.contains("sampling_params")) ask.n = recorded.body["sampling_params"]["n"];
  ask.stream = recorded.body.value("stream", false);
  return ask;
}

// What the answer of a recording says; a stream comes byte by byte.
Reply read(const Dialect& dialect, const std::string& name) {
  const Recording recorded = recording(name);
  const Ask ask = ask_of(recorded);
  Reply reply;
  if (recorded.text.empty()) {
    dialect.read(JsonNode(recorded.answer, name), ask, reply);
    finish(reply);
  } else {
    ReplyStream stream(dialect, ask, reply);
    for (const char byte : recorded.text) stream.feed(std::string_view(&byte, 1));
    EXPECT_TRUE(stream.finish());
  }
  return reply;
}

std::string refusal(const Dialect& dialect, const Ask& ask, const Json& answer) {
  try {
    Reply reply;
    dialect.read(JsonNode(answer, "answer"), ask, reply);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return {};
}

Ask an_ask() {
  Ask ask;
  ask.prompt = {5, 6};
  ask.model = "smol";
  ask.n = 3;
  ask.max_tokens = 9;
  ask.temperature = 0.5;
  ask.top_p = 0.9;
  ask.seed = 7;
  ask.stop = {"END"};
  ask.stop_tokens = {2};
  return ask;
}

TEST(VllmDialect, AsksForIdsWithALimitOfItsOwn) {
  const Encoded encoded = vllm_dialect().encode(an_ask());
  EXPECT_EQ(encoded.path, "/v1/completions");
  const Json expected = Json::parse(R"({
    "model": "smol", "prompt": [5, 6], "n": 3, "max_tokens": 9, "temperature": 0.5, "top_p": 0.9,
    "top_k": -1, "min_p": 0, "repetition_penalty": 1, "seed": 7, "logprobs": 0,
    "return_token_ids": true, "return_tokens_as_token_ids": true, "skip_special_tokens": true,
    "include_stop_str_in_output": true, "stop": ["END"], "stop_token_ids": [2]})");
  EXPECT_EQ(encoded.body, expected);
}

TEST(VllmDialect, ReadsTokensTheirLogprobsAndThePromptItRead) {
  const Reply reply = read(vllm_dialect(), "vllm/completion");
  ASSERT_EQ(reply.choices.size(), 1U);
  const Choice& choice = reply.choices.at(0);
  EXPECT_EQ(choice.text, "there you go,");
  EXPECT_EQ(choice.tokens, (std::vector<TokenId>{11527, 346, 685, 28}));
  EXPECT_EQ(choice.logprobs, (Floats{-8.213177680969238F, -3.2092275619506836F,
                                     -0.6366651654243469F, -1.8431819677352905F}));
  EXPECT_EQ(choice.stop_reason, KRL_STOP_LENGTH);
  EXPECT_EQ(reply.prompt, kPrompt);
  EXPECT_EQ(reply.model, "smol");
  EXPECT_EQ(reply.prompt_tokens, 12);
}

TEST(VllmDialect, ReadsEveryEnd) {
  EXPECT_EQ(read(vllm_dialect(), "vllm/completion_eos").choices.at(0).tokens,
            std::vector<TokenId>{2});
  EXPECT_EQ(read(vllm_dialect(), "vllm/completion_eos").choices.at(0).stop_reason, KRL_STOP_END);
  EXPECT_EQ(read(vllm_dialect(), "vllm/completion_stop_id").choices.at(0).stop_reason,
            KRL_STOP_END);
  EXPECT_EQ(read(vllm_dialect(), "vllm/completion_stop_text").choices.at(0).stop_reason,
            KRL_STOP_END);
  const Choice aborted = read(vllm_dialect(), "vllm/completion_aborted").choices.at(0);
  EXPECT_EQ(aborted.stop_reason, KRL_STOP_ABORTED);
  EXPECT_EQ(aborted.tokens.size(), aborted.logprobs.size());
  EXPECT_FALSE(aborted.tokens.empty());
}

TEST(VllmDialect, ReadsSeveralAnswersAndStreamsOfThem) {
  const Reply whole = read(vllm_dialect(), "vllm/completion_n");
  ASSERT_EQ(whole.choices.size(), 2U);
  EXPECT_EQ(whole.choices.at(1).tokens, (std::vector<TokenId>{19556, 665, 28}));
  const Reply streamed = read(vllm_dialect(), "vllm/completion_stream_n");
  ASSERT_EQ(streamed.choices.size(), 2U);
  EXPECT_EQ(streamed.choices.at(0).text, "there you");
  EXPECT_EQ(streamed.choices.at(1).text, "Hello there");
  EXPECT_EQ(streamed.choices.at(1).tokens, (std::vector<TokenId>{19556, 665}));
  EXPECT_EQ(streamed.choices.at(1).logprobs.size(), 2U);
  EXPECT_EQ(streamed.choices.at(1).stop_reason, KRL_STOP_LENGTH);
  EXPECT_EQ(streamed.prompt, kPrompt);
  EXPECT_EQ(streamed.prompt_tokens, 12);
}

TEST(VllmDialect, ReadsIdsOutOfNamesAsOlderVersionsGiveThem) {
  const Reply reply = read(vllm_dialect(), "vllm/completion_tokens_as_ids");
  EXPECT_EQ(reply.choices.at(0).tokens, (std::vector<TokenId>{11527, 346}));
  Recording plain = recording("vllm/completion");
  plain.answer["choices"][0].erase("token_ids");
  EXPECT_NE(refusal(vllm_dialect(), ask_of(plain), plain.answer).find("too old"),
            std::string::npos);
  Recording huge = recording("vllm/completion_tokens_as_ids");
  for (const char* id : {"token_id:4294967301", "token_id:12.0", "token_id:-1"}) {
    huge.answer["choices"][0]["logprobs"]["tokens"][0] = id;
    EXPECT_NE(refusal(vllm_dialect(), ask_of(huge), huge.answer), "") << id;
  }
}

TEST(VllmDialect, KeepsAPromptThatIsNotOurs) {
  Recording recorded = recording("vllm/completion_n");
  recorded.answer["choices"][0]["prompt_token_ids"][0] = 7U;
  Reply reply;
  vllm_dialect().read(JsonNode(recorded.answer, "answer"), ask_of(recorded), reply);
  EXPECT_NE(reply.prompt, kPrompt) << "though the other choice has ours";
}

TEST(VllmDialect, AnAnswerWithoutLogprobsLacksThem) {
  const Reply reply = read(vllm_dialect(), "vllm/completion_no_logprobs");
  EXPECT_EQ(reply.choices.at(0).tokens.size(), 2U);
  EXPECT_TRUE(reply.choices.at(0).logprobs.empty());
}

TEST(VllmDialect, ScoresTheTokensOfAPrompt) {
  const Recording recorded = recording("vllm/score_prompt");
  const Ask ask = ask_of(recorded);
  const Encoded encoded = vllm_dialect().encode_scoring(ask);
  EXPECT_EQ(encoded.path, "/v1/completions");
  EXPECT_EQ(encoded.body["prompt_logprobs"], 0);
  EXPECT_EQ(encoded.body["max_tokens"], 1);
  const std::vector<float> scores =
      vllm_dialect().read_scoring(JsonNode(recorded.answer, "answer"), ask, 3);
  ASSERT_EQ(scores.size(), kPrompt.size() - 3);
  EXPECT_EQ(scores[0], -9.65553092956543F);  // of token 36218 after the three before
  Ask other = ask;
  other.prompt[5] = 31;
  EXPECT_THROW(vllm_dialect().read_scoring(JsonNode(recorded.answer, "answer"), other, 3), Failure);
  other.prompt.pop_back();
  EXPECT_THROW(vllm_dialect().read_scoring(JsonNode(recorded.answer, "answer"), other, 3), Failure);
}

TEST(VllmDialect, RefusesWhatIsNotAsItShouldBe) {
  const Recording recorded = recording("vllm/completion_n");
  const Ask ask = ask_of(recorded);
  const auto changed = [&](const char* pointer, const Json& value) {
    Json answer = recorded.answer;
    answer[Json::json_pointer(pointer)] = value;
    return refusal(vllm_dialect(), ask, answer);
  };
  EXPECT_EQ(changed("/choices/1/text", "x"), "");
  EXPECT_NE(changed("/choices/1/index", 0U).find("a second answer with the index 0"),
            std::string::npos);
  EXPECT_NE(changed("/choices/1/index", 2U).find("choices[1].index"), std::string::npos);
  EXPECT_NE(changed("/choices/0/token_ids/0", -5).find("token_ids[0]"), std::string::npos);
  EXPECT_NE(changed("/choices/0/token_ids/0", "x").find("token_ids[0]"), std::string::npos);
  EXPECT_NE(changed("/choices/0/logprobs/token_logprobs/0", nullptr).find("must be a number"),
            std::string::npos);
  EXPECT_NE(changed("/choices", 3).find("must be an array"), std::string::npos);
}

TEST(SglangDialect, AsksForIds) {
  Ask ask = ask_of(recording("sglang/generate"));
  ask.max_tokens = 4;
  ask.seed = 7;
  ask.stop_tokens = {2};
  const Encoded encoded = sglang_dialect().encode(ask);
  EXPECT_EQ(encoded.path, "/generate");
  EXPECT_EQ(encoded.body, recording("sglang/generate").body);
  ask.adapter = "smol-v3";
  EXPECT_EQ(sglang_dialect().encode(ask).body["lora_path"], "smol-v3");
}

TEST(SglangDialect, ReadsAnswersAndTheirEnds) {
  const Reply reply = read(sglang_dialect(), "sglang/generate");
  EXPECT_EQ(reply.choices.at(0).tokens, (std::vector<TokenId>{11527, 346, 685, 28}));
  EXPECT_EQ(reply.choices.at(0).logprobs, (Floats{-8.25F, -3.25F, -0.625F, -1.875F}));
  EXPECT_EQ(reply.choices.at(0).stop_reason, KRL_STOP_LENGTH);
  EXPECT_EQ(reply.weight_version, "default");
  EXPECT_EQ(reply.cached_tokens, 11);
  EXPECT_EQ(read(sglang_dialect(), "sglang/generate_stop").choices.at(0).stop_reason, KRL_STOP_END);
  EXPECT_EQ(read(sglang_dialect(), "sglang/generate_aborted").choices.at(0).stop_reason,
            KRL_STOP_ABORTED);
  EXPECT_EQ(read(sglang_dialect(), "sglang/generate_n").choices.at(1).text, "Hello there");
}

TEST(SglangDialect, StreamsMayRepeatOrContinue) {
  for (const char* name : {"sglang/generate_stream", "sglang/generate_stream_increments"}) {
    const Choice choice = read(sglang_dialect(), name).choices.at(0);
    EXPECT_EQ(choice.text, "there you go,") << name;
    EXPECT_EQ(choice.tokens, (std::vector<TokenId>{11527, 346, 685, 28})) << name;
    EXPECT_EQ(choice.logprobs.size(), 4U) << name;
    EXPECT_EQ(choice.stop_reason, KRL_STOP_LENGTH) << name;
  }
}

TEST(SglangDialect, ScoresTheTokensOfAPrompt) {
  const Recording recorded = recording("sglang/score");
  const Ask ask = ask_of(recording("sglang/generate"));
  EXPECT_EQ(sglang_dialect().encode_scoring(ask).body, recorded.body);
  const std::vector<float> scores =
      sglang_dialect().read_scoring(JsonNode(recorded.answer, "answer"), ask, 10);
  EXPECT_EQ(scores, (std::vector<float>{-2.5F, -2.75F}));
}

TEST(LlamacppDialect, AsksForIdsAndPlainSampling) {
  const Encoded encoded = llamacpp_dialect().encode(an_ask());
  EXPECT_EQ(encoded.path, "/completion");
  const Json expected = Json::parse(R"({
    "prompt": [5, 6], "n": 3, "n_predict": 9, "temperature": 0.5, "top_k": 0, "top_p": 0.9,
    "min_p": 0, "repeat_penalty": 1, "samplers": ["temperature", "top_k", "top_p"], "n_probs": 1,
    "return_tokens": true, "cache_prompt": true, "seed": 7})");
  EXPECT_EQ(encoded.body, expected);
}

TEST(LlamacppDialect, ReadsAnswersAndTheirEnds) {
  const Reply reply = read(llamacpp_dialect(), "llamacpp/completion");
  EXPECT_EQ(reply.choices.at(0).text, "I'm Hannah from");
  EXPECT_EQ(reply.choices.at(0).tokens, (std::vector<TokenId>{57, 5248, 32413, 429}));
  EXPECT_EQ(reply.choices.at(0).logprobs[2], -9.03962230682373F);
  EXPECT_EQ(reply.choices.at(0).stop_reason, KRL_STOP_LENGTH);
  EXPECT_EQ(reply.prompt_tokens, 12);
  EXPECT_EQ(reply.cached_tokens, 11);
  const Choice ended = read(llamacpp_dialect(), "llamacpp/completion_eos").choices.at(0);
  EXPECT_EQ(ended.tokens, std::vector<TokenId>{2});
  EXPECT_EQ(ended.stop_reason, KRL_STOP_END);
  const Reply several = read(llamacpp_dialect(), "llamacpp/completion_n");
  ASSERT_EQ(several.choices.size(), 2U);
  EXPECT_EQ(several.choices.at(1).text, "\"Nam");
}

TEST(LlamacppDialect, SaysWhichLogprobsAreMissing) {
  const Choice choice =
      read(llamacpp_dialect(), "llamacpp/completion_split_character").choices.at(0);
  ASSERT_EQ(choice.tokens, (std::vector<TokenId>{49, 7641, 17, 40303, 122, 10813, 235, 218}));
  std::vector<bool> there;
  for (const auto& logprob : choice.logprobs) there.push_back(logprob.has_value());
  EXPECT_EQ(there, (std::vector<bool>{true, true, true, false, true, false, false, true}));
}

TEST(LlamacppDialect, AsksForTheLogprobOfOneToken) {
  const Recording recorded = recording("llamacpp/score_token");
  const Ask ask = ask_of(recorded);
  const Encoded encoded = llamacpp_dialect().encode_token(ask, 32413, 1);
  EXPECT_EQ(encoded.path, "/completion");
  EXPECT_EQ(encoded.body["n_predict"], 1);
  EXPECT_EQ(encoded.body["n_probs"], 1);
  EXPECT_EQ(encoded.body["logit_bias"], recorded.body["logit_bias"]);
  const JsonNode answer(recorded.answer, "answer");
  EXPECT_EQ(llamacpp_dialect().read_token(answer, 57), -2.2075045108795166F);
  EXPECT_EQ(llamacpp_dialect().read_token(answer, 58), std::nullopt);
}

TEST(LlamacppDialect, RefusesAnAnswerToAnotherPrompt) {
  const Recording recorded = recording("llamacpp/completion");
  Ask ask = ask_of(recorded);
  ask.prompt.pop_back();
  EXPECT_NE(refusal(llamacpp_dialect(), ask, recorded.answer).find("12 tokens of a prompt of 11"),
            std::string::npos);
  Json answer = recorded.answer;
  answer["completion_probabilities"][0]["id"] = 58U;
  EXPECT_NE(refusal(llamacpp_dialect(), ask_of(recorded), answer).find("not in the answer"),
            std::string::npos);
}

TEST(PlainDialect, AsksForAChatAndLeavesOutWhatIsOff) {
  Ask ask;
  ask.model = "gpt";
  ask.messages = {{KRL_ROLE_SYSTEM, "Be brief."}, {KRL_ROLE_USER, "Hi"}, {KRL_ROLE_ASSISTANT, "?"}};
  ask.max_tokens = 9;
  ask.seed = 7;
  EXPECT_EQ(plain_dialect().encode(ask).path, "/v1/chat/completions");
  EXPECT_EQ(plain_dialect().encode(ask).body, Json::parse(R"({
    "model": "gpt", "max_tokens": 9, "temperature": 1, "seed": 7, "messages": [
    {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "?"}]})"));
  ask.n = 2;
  ask.top_p = 0.5;
  ask.top_k = 20;
  ask.stop = {"x"};
  const Json body = plain_dialect().encode(ask).body;
  EXPECT_EQ(body["n"], 2);
  EXPECT_EQ(body["top_p"], 0.5);
  EXPECT_EQ(body["top_k"], 20);
  EXPECT_EQ(body["stop"], Json::array({"x"}));
}

TEST(PlainDialect, ReadsTheChatOfRealServers) {
  const Reply llamacpp = read(plain_dialect(), "llamacpp/chat");
  EXPECT_EQ(llamacpp.choices.at(0).text, "Justice. Just");
  EXPECT_EQ(llamacpp.choices.at(0).stop_reason, KRL_STOP_LENGTH);
  EXPECT_EQ(llamacpp.cached_tokens, 32);
  EXPECT_EQ(read(plain_dialect(), "vllm/chat").choices.at(0).text, "How may");
  EXPECT_EQ(read(plain_dialect(), "llamacpp/chat_stream").choices.at(0).text, "Justice.");
  EXPECT_EQ(read(plain_dialect(), "vllm/chat_stream").choices.at(0).text, "How may");
  EXPECT_EQ(read(plain_dialect(), "vllm/chat_stream").choices.at(0).stop_reason, KRL_STOP_LENGTH);
}

Choice choice_of(const std::string& message, const std::string& reason = "\"stop\"") {
  const Json answer = Json::parse(R"({"choices": [{"index": 0, "message": )" + message +
                                  R"(, "finish_reason": )" + reason + "}]}");
  Reply reply;
  plain_dialect().read(JsonNode(answer, "answer"), Ask{}, reply);
  finish(reply);
  return reply.choices.empty() ? Choice{} : reply.choices.at(0);
}

TEST(PlainDialect, AcceptsTheVendorsDifferences) {
  EXPECT_EQ(choice_of(R"({"content": "a", "reasoning_content": "t"})").thoughts, "t");
  EXPECT_EQ(choice_of(R"({"content": "a", "reasoning": "t"})").thoughts, "t");
  EXPECT_EQ(choice_of(R"({"content": "a", "reasoning_content": "t", "reasoning": "t"})").thoughts,
            "t");
  EXPECT_EQ(choice_of(R"({"content": "a", "reasoning": {"effort": "low"}})").thoughts, "");
  EXPECT_EQ(choice_of(R"({"content": null, "reasoning_content": "t"})").text, "");
  const Choice parts = choice_of(
      R"({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "t"}]},
                      {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})");
  EXPECT_EQ(parts.text, "ab");
  EXPECT_EQ(parts.thoughts, "t");
  EXPECT_EQ(choice_of(R"({"content": "a"})", "\"content_filter\"").stop_reason, KRL_STOP_ABORTED);
  EXPECT_EQ(choice_of(R"({"content": "a"})", "\"tool_calls\"").stop_reason, KRL_STOP_ABORTED);
  EXPECT_EQ(choice_of(R"({"content": "a"})", "null").stop_reason, KRL_STOP_ABORTED);
  EXPECT_EQ(choice_of(R"({"content": "a"})", "\"length\"").stop_reason, KRL_STOP_LENGTH);
}

TEST(PlainDialect, AcceptsIndicesAsTextsAndCountsThatAreNone) {
  const Json answer = Json::parse(R"({"choices": [{"index": "1", "message": {"content": "a"},
      "finish_reason": "stop"}], "usage": {"prompt_tokens": 10.0,
      "prompt_tokens_details": {"cached_tokens": "many"}}})");
  Ask ask;
  ask.n = 2;
  Reply reply;
  plain_dialect().read(JsonNode(answer, "answer"), ask, reply);
  EXPECT_EQ(reply.choices.at(1).text, "a");
  EXPECT_EQ(reply.prompt_tokens, 10);
  EXPECT_EQ(reply.cached_tokens, 0);
  ask.n = 1;
  EXPECT_THROW(plain_dialect().read(JsonNode(answer, "answer"), ask, reply), Failure);
}

TEST(PlainDialect, AStreamMayEndWithMoreThanItsEnd) {
  Ask ask;
  ask.stream = true;
  Reply reply;
  ReplyStream stream(plain_dialect(), ask, reply);
  stream.feed(
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}],"
      "\"usage\":{\"prompt_tokens\":3}}\n\ndata: [DONE]\n\n");
  EXPECT_TRUE(stream.finish());
  EXPECT_EQ(reply.choices.at(0).stop_reason, KRL_STOP_END);
  EXPECT_EQ(reply.prompt_tokens, 3);
}

TEST(ReplyStream, KeepsWhatCameBeforeAnError) {
  const Recording recorded = recording("vllm/completion_stream_n");
  const Ask ask = ask_of(recorded);
  Reply reply;
  ReplyStream stream(vllm_dialect(), ask, reply);
  stream.feed(recorded.text.substr(0, recorded.text.find("\n\n") + 2));
  EXPECT_THROW(stream.feed("data: {\"error\": {\"message\": \"worker died\"}}\n\n"), Failure);
  EXPECT_TRUE(stream.finish());
  ASSERT_EQ(reply.choices.size(), 1U);
  EXPECT_EQ(reply.choices.at(0).stop_reason, KRL_STOP_ABORTED);
  EXPECT_EQ(reply.choices.at(0).tokens, std::vector<TokenId>{11527});
}

TEST(ReplyStream, NothingIsNoAnswer) {
  Reply reply;
  const Ask ask;
  ReplyStream stream(vllm_dialect(), ask, reply);
  stream.feed(": a comment\n\n");
  EXPECT_FALSE(stream.finish());
}

}  // namespace
}  // namespace krl::openai
