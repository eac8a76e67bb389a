#include "tests/unit/http/test_certificate.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>

namespace krl::http::testing {
namespace {

template <class T, void (*free)(T*)>
struct Free {
  void operator()(T* object) const { free(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY, ::EVP_PKEY_free>>;
using X509Certificate = std::unique_ptr<X509, Free<X509, ::X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO, ::BIO_free_all>>;

constexpr std::chrono::hours kAuthorityLifetime{24}, kSince{48};

void require(bool done) {
  if (!done) throw std::runtime_error("OpenSSL made no certificate");
}

Bio memory_of(const std::string& text) {
  return Bio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_in(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = ::X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  require(extension != nullptr && ::X509_add_ext(certificate, extension, -1) == 1);
  ::X509_EXTENSION_free(extension);
}

bool is_address(const std::string& host) {
  return host.find_first_not_of("0123456789.") == std::string::npos;
}

// Not signed yet.
X509Certificate blank(const Key& key, const std::string& name, std::chrono::hours lifetime) {
  X509Certificate certificate(::X509_new());
  X509* const x = certificate.get();
  unsigned char random[8];
  require(::RAND_bytes(random, sizeof random) == 1);
  std::uint64_t serial = 0;
  for (const unsigned char byte : random) serial = serial << 8 | byte;
  require(::X509_set_version(x, 2) == 1 &&
          ::ASN1_INTEGER_set_uint64(::X509_get_serialNumber(x), serial >> 1) == 1);
  using std::chrono::seconds;
  ::X509_gmtime_adj(X509_getm_notBefore(x), -static_cast<long>(seconds(kSince).count()));
  ::X509_gmtime_adj(X509_getm_notAfter(x), static_cast<long>(seconds(lifetime).count()));
  require(::X509_set_pubkey(x, key.get()) == 1);
  ::X509_NAME_add_entry_by_txt(::X509_get_subject_name(x), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return certificate;
}

Certificate signed_by(X509* issuer, EVP_PKEY* issuer_key, const X509Certificate& certificate,
                      const Key& key) {
  require(::X509_set_issuer_name(certificate.get(), ::X509_get_subject_name(issuer)) == 1);
  require(::X509_sign(certificate.get(), issuer_key, ::EVP_sha256()) > 0);
  const Bio text(::BIO_new(::BIO_s_mem())), key_text(::BIO_new(::BIO_s_mem()));
  require(::PEM_write_bio_X509(text.get(), certificate.get()) == 1);
  require(::PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                     nullptr) == 1);
  return {text_in(text), text_in(key_text)};
}

}  // namespace

Certificate make_authority() {
  const Key key(EVP_EC_gen("P-256"));
  const X509Certificate certificate = blank(key, "An authority of a test", kAuthorityLifetime);
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  return signed_by(certificate.get(), key.get(), certificate, key);
}

Certificate make_certificate(const Certificate& authority, const std::vector<std::string>& hosts,
                             std::chrono::hours lifetime) {
  const X509Certificate issuer(
      ::PEM_read_bio_X509(memory_of(authority.certificate).get(), nullptr, nullptr, nullptr));
  const Key issuer_key(
      ::PEM_read_bio_PrivateKey(memory_of(authority.key).get(), nullptr, nullptr, nullptr));
  require(issuer && issuer_key);
  const Key key(EVP_EC_gen("P-256"));
  const X509Certificate certificate = blank(key, "A server of a test", lifetime);
  std::string names;
  for (const std::string& host : hosts) {
    names += (names.empty() ? "" : ",") + std::string(is_address(host) ? "IP:" : "DNS:") + host;
  }
  add_extension(certificate.get(), NID_subject_alt_name, names);
  return signed_by(issuer.get(), issuer_key.get(), certificate, key);
}

}  // namespace krl::http::testing
