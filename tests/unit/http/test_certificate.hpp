// Certificates that are made when a test runs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace krl::http::testing {

// PEM of a certificate and its private key.
struct Certificate {
  std::string certificate, key;
};

// A certificate authority of the test's own, in no trust store.
Certificate make_authority();

// A server's, signed by `authority`, for names and IPv4 addresses. A negative lifetime has ended.
Certificate make_certificate(const Certificate& authority, const std::vector<std::string>& hosts,
                             std::chrono::hours lifetime = std::chrono::hours(24));

}  // namespace krl::http::testing
