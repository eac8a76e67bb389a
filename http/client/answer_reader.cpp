#include "http/client/answer_reader.hpp"

#include <boost/beast/http/error.hpp>

namespace krl::http {

namespace beast_http = boost::beast::http;

AnswerReader::AnswerReader(const Options& options, const OnBody* on_body)
    : max_body_(options.max_body), on_body_(on_body) {
  header_limit(static_cast<std::uint32_t>(options.max_head));
  body_limit(boost::none);  // our own limit counts streamed bytes as well
}

void AnswerReader::on_response_impl(int status, Text, int, ErrorCode&) {
  answer.status = static_cast<unsigned>(status);
}

void AnswerReader::on_field_impl(beast_http::field, Text name, Text value, ErrorCode&) {
  if (is_header_done()) return;  // a trailer
  answer.headers.push_back({std::string(name), std::string(value)});
}

void AnswerReader::take_body(Text part, ErrorCode& error) {
  body_bytes_ += part.size();
  if (body_bytes_ > max_body_) {
    error = beast_http::error::body_limit;
  } else if (on_body_ != nullptr && answer.good()) {
    (*on_body_)({part.data(), part.size()});
  } else {
    answer.body.append(part.data(), part.size());
  }
}

std::size_t AnswerReader::on_body_impl(Text part, ErrorCode& error) {
  take_body(part, error);
  return part.size();
}

std::size_t AnswerReader::on_chunk_body_impl(std::uint64_t, Text part, ErrorCode& error) {
  take_body(part, error);
  return part.size();
}

}  // namespace krl::http
