// What a server of TLS shows, and what it says of files that it cannot use.
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "http/base/tls.hpp"
#include "tests/unit/http/client_fixture.hpp"

namespace krl::http::testing {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::AllOf;
using ::testing::HasSubstr;

// An Ed25519 key that is encrypted by a passphrase.
constexpr const char* kLockedKey =
    "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
    "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgfryvMvG1qgwICCAAw\n"
    "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEOJg40prE9PyYOToUnXdHoUEQCDb\n"
    "6xk+2JeI9D1fGbOvxdoagz/fEm1yrO9+9pPb/dmbdimwTt/y36zfETjquj6x+IcO\n"
    "HgDYhqqsbOMyDFPfgjk=\n"
    "-----END ENCRYPTED PRIVATE KEY-----\n";

class ServerTls : public ClientFixture {
 protected:
  ServerTls() { std::filesystem::create_directory(folder_); }
  ~ServerTls() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string refusal(const std::string& certificate, const std::string& key) {
    try {
      server_tls_context(certificate, key);
    } catch (const krl::Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      return failure.what();
    }
    return "it was made";
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("krl-server-tls-" + std::to_string(::getpid()));
  const Certificate authority_ = make_authority();
  const Certificate server_ = make_certificate(authority_, {"localhost"});
};

TEST_F(ServerTls, ShowsTheCertificateOfItsFiles) {
  asio::ssl::context context =
      server_tls_context(file("chain.pem", server_.certificate + authority_.certificate),
                         file("key.pem", server_.key));
  asio::io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::thread thread([&] {
    asio::ssl::stream<tcp::socket> stream(acceptor.accept(), context);
    stream.handshake(asio::ssl::stream_base::server);
    std::string request;
    asio::read_until(stream, asio::dynamic_buffer(request), "\r\n\r\n");
    asio::write(stream, asio::buffer(head(200, {{"Content-Length", "2"}}) + "ok"));
    boost::system::error_code ignored;
    stream.shutdown(ignored);
  });
  Options options = plain();
  options.ca_file = file("ca.pem", authority_.certificate);
  connect_to("https://localhost:" + std::to_string(acceptor.local_endpoint().port()), options);
  EXPECT_EQ(ask(get("/")).body, "ok");
  client_.reset();
  thread.join();
  EXPECT_EQ(SSL_CTX_get_min_proto_version(context.native_handle()), TLS1_2_VERSION);
}

TEST_F(ServerTls, NamesTheFileThatItCannotUse) {
  const std::string certificate = file("certificate.pem", server_.certificate);
  const std::string key = file("key.pem", server_.key);
  const std::string text = file("text", "no PEM");
  const std::string others_key = file("other.pem", make_certificate(authority_, {"other"}).key);
  const std::string locked = file("locked.pem", kLockedKey);
  EXPECT_THAT(refusal("/no/such.pem", key),
              AllOf(HasSubstr("certificate in /no/such.pem"), HasSubstr("o such file")));
  EXPECT_THAT(refusal(text, key), AllOf(HasSubstr("certificate in " + text), HasSubstr("PEM")));
  EXPECT_THAT(refusal(certificate, "/no/such.pem"),
              AllOf(HasSubstr("private key in /no/such.pem"), HasSubstr("o such file")));
  for (const std::string& unfit : {text, certificate, others_key, locked}) {
    EXPECT_THAT(refusal(certificate, unfit),
                AllOf(HasSubstr("private key in " + unfit), HasSubstr("without a passphrase")));
  }
  EXPECT_THAT(refusal(certificate, others_key), HasSubstr("mismatch"));
}

}  // namespace
}  // namespace krl::http::testing
