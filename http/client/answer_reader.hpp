// Reads one HTTP/1.1 response from bytes, with Beast's parser. Pure.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <string_view>

#include "http/base/message.hpp"
#include "http/client/client.hpp"

namespace krl::http {

class AnswerReader final : public boost::beast::http::basic_parser<false> {
 public:
  // `on_body` is handed the body of an answer with a status of 2xx; it may be null.
  AnswerReader(const Options& options, const OnBody* on_body);

  Answer answer;

 private:
  using Parser = boost::beast::http::basic_parser<false>;
  using Text = boost::beast::string_view;
  using ErrorCode = boost::beast::error_code;

  void take_body(Text part, ErrorCode& error);

  void on_request_impl(boost::beast::http::verb, Text, Text, int, ErrorCode&) override {}
  void on_response_impl(int status, Text reason, int version, ErrorCode& error) override;
  void on_field_impl(boost::beast::http::field, Text name, Text value, ErrorCode& error) override;
  void on_header_impl(ErrorCode&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
  std::size_t on_body_impl(Text part, ErrorCode& error) override;
  void on_chunk_header_impl(std::uint64_t, Text, ErrorCode&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text part, ErrorCode& error) override;
  void on_finish_impl(ErrorCode&) override {}

  const std::size_t max_body_;
  const OnBody* const on_body_;
  std::size_t body_bytes_ = 0;
};

}  // namespace krl::http
