#include "http/base/event_stream.hpp"

#include <gtest/gtest.h>

#include <kernelrl/values.hpp>
#include <random>
#include <vector>

namespace krl::http {
namespace {

// Each event as "type|data|id".
using Events = std::vector<std::string>;

std::string line_of(const Event& event) { return event.type + '|' + event.data + '|' + event.id; }

Events events_in(const std::vector<std::string_view>& parts) {
  Events events;
  EventStream stream;
  for (const std::string_view part : parts) {
    stream.feed(part, [&](const Event& event) { events.push_back(line_of(event)); });
  }
  return events;
}

const struct {
  const char* what;
  std::string stream;
  Events events;
} kCases[] = {
    {"one event", "data: {\"x\":1}\n\n", {"message|{\"x\":1}|"}},
    {"without a space", "data:x\n\n", {"message|x|"}},
    {"one space is taken, a second kept", "data:  x\n\n", {"message| x|"}},
    {"CR LF", "data: a\r\n\r\ndata: b\r\n\r\n", {"message|a|", "message|b|"}},
    {"CR", "data: a\r\rdata: b\r\r", {"message|a|", "message|b|"}},
    {"ends of lines mixed", "data: a\r\n\ndata: b\n\r\n", {"message|a|", "message|b|"}},
    {"several lines", "data: a\ndata: b\ndata\ndata: c\n\n", {"message|a\nb\n\nc|"}},
    {"comments", ": keep-alive\n\n:\ndata: a\n: x\n\n", {"message|a|"}},
    {"a type", "event: error\ndata: a\n\ndata: b\n\n", {"error|a|", "message|b|"}},
    {"a type without data is no event", "event: ping\n\ndata: b\n\n", {"message|b|"}},
    {"an id stays",
     "id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
     {"message|a|7", "message|b|7", "message|c|"}},
    {"an id with a zero byte is none",
     std::string("id: 1\nid: 2\0\ndata: a\n\n", 22),
     {"message|a|1"}},
    {"unknown fields and retry", "retry: 10\nfoo: bar\ndata: a\n\n", {"message|a|"}},
    {"a byte-order mark",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     {"message|a|"}},
    {"a byte-order mark later is a part of a name",
     "\n\xEF\xBB\xBF"
     "data: a\n\n",
     {}},
    {"colons in data", "data: a:b: c\n\n", {"message|a:b: c|"}},
    {"the end of OpenAI's streams", "data: [DONE]\n\n", {"message|[DONE]|"}},
    {"empty data", "data:\n\ndata\n\n", {"message||", "message||"}},
    {"an event that does not end is none", "data: a\n\ndata: b\n", {"message|a|"}},
    {"nothing", "", {}},
    {"empty lines", "\n\r\r\n\n", {}},
};

TEST(EventStream, ReadsWhatTheStandardSays) {
  for (const auto& c : kCases) EXPECT_EQ(events_in({c.stream}), c.events) << c.what;
}

TEST(EventStream, ReadsTheSameByteForByte) {
  for (const auto& c : kCases) {
    std::vector<std::string_view> bytes;
    for (const char& byte : c.stream) bytes.emplace_back(&byte, 1);
    EXPECT_EQ(events_in(bytes), c.events) << c.what;
  }
}

TEST(EventStream, ReadsTheSameHoweverItIsCut) {
  std::string all;
  for (const auto& c : kCases) {
    if (c.stream.find('\xEF') == std::string::npos) all += c.stream + "\n\n";
  }
  const Events expected = events_in({all});
  EXPECT_GT(expected.size(), 20u);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string_view> parts;
    std::string_view rest = all;
    while (!rest.empty()) {
      const std::size_t n = std::uniform_int_distribution<std::size_t>(
          0, std::min<std::size_t>(rest.size(), 9))(random);
      parts.push_back(rest.substr(0, n));
      rest.remove_prefix(n);
    }
    ASSERT_EQ(events_in(parts), expected);
  }
}

TEST(EventStream, EndsAtAnEventThatIsTooLong) {
  const auto nothing = [](const Event&) {};
  EventStream lines(100), line(100), many(100);
  try {
    for (int i = 0; i < 100; ++i) lines.feed("data: 1234567890\n", nothing);
    ADD_FAILURE() << "took it";
  } catch (const krl::Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_RESOURCE_EXHAUSTED);
  }
  EXPECT_THROW(line.feed(std::string(101, 'x'), nothing), krl::Failure);
  for (int i = 0; i < 100; ++i) many.feed("data: 1234567890\n\n", nothing);
}

TEST(EventText, IsReadAsItWasWritten) {
  const struct {
    std::string type, data, read;
  } cases[] = {
      {"result", "{\"a\":1}", "result|{\"a\":1}|"},
      {"", "x", "message|x|"},
      {"message", "x", "message|x|"},
      {"end", "", "end||"},
      {"x", "a\nb\n\nc\n", "x|a\nb\n\nc\n|"},
      {"x", "a\r\nb\rc\n\rd", "x|a\nb\nc\n\nd|"},
      {"x", " data: y", "x| data: y|"},
      {"x", "1\n\nevent: forged\ndata: 2\n\n", "x|1\n\nevent: forged\ndata: 2\n\n|"},
      {"x\r\ndata: forged\n\n", "1", "x  data: forged  |1|"},
      {"x", "\xEF\xBB\xBF: \xC3\xA9", "x|\xEF\xBB\xBF: \xC3\xA9|"},
  };
  std::string all;
  Events expected;
  for (const auto& c : cases) {
    EXPECT_EQ(events_in({event_text(c.type, c.data)}), Events{c.read});
    all += event_text(c.type, c.data);
    expected.push_back(c.read);
  }
  EXPECT_EQ(events_in({all}), expected);
}

}  // namespace
}  // namespace krl::http
