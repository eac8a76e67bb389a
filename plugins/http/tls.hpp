// TLS for clients: trusted certificates, and one session on a connected non-blocking socket.
// Operations that would block return that; nothing is buffered in addition to OpenSSL's buffers, so
// that a thousand sessions need little memory.
#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace krl::http {

// Thread-safe once made.
class TlsContext {
 public:
  // `ca_file`: PEM; empty: the authorities that the system trusts. Throws
  // krl::Failure(KRL_INVALID_ARGUMENT) if it cannot be read.
  TlsContext(const std::string& ca_file, bool verify);

 private:
  friend class TlsSession;
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

// The result of one step of reading, writing or the handshake.
struct IoStep {
  enum Result {
    kDone,
    kWantsRead,   // repeat once the socket is readable …
    kWantsWrite,  // … or writable
    kEnd,         // the other side has said its last
    kBroken,      // the connection: `error`
    kRefused,     // refused by TLS: `why`
  } result = kDone;
  std::size_t bytes = 0;
  std::error_code error = {};
  std::string why = {};
};

class TlsSession {
 public:
  // `host`: the name or address that the server's certificate must be for.
  TlsSession(const TlsContext& context, int socket, const std::string& host);

  IoStep handshake();
  IoStep read(char* to, std::size_t size);
  IoStep write(const char* from, std::size_t size);  // a part may be taken
  IoStep peek();                                     // reads a byte and leaves it there

 private:
  IoStep step_of(int result) const;

  struct Free {
    void operator()(ssl_st* session) const;
  };
  std::unique_ptr<ssl_st, Free> session_;
};

}  // namespace krl::http
