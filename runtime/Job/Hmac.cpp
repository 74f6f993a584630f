// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HMAC-SHA256 (RFC 2104), and what goes with it.

#include "colrow/runtime/Job/Handshake.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SHA256.h"
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static ArrayRef<uint8_t> bytesOf(StringRef text) {
  return ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

Digest hmacSha256(StringRef key, StringRef text) {
  constexpr size_t blockBytes = 64;
  std::array<uint8_t, blockBytes> inner = {}, outer = {};
  if (key.size() > blockBytes) {
    Digest hashed = SHA256::hash(bytesOf(key));
    std::copy(hashed.begin(), hashed.end(), inner.begin());
  } else
    std::copy(key.begin(), key.end(), inner.begin());
  for (size_t i = 0; i < blockBytes; ++i) {
    outer[i] = inner[i] ^ 0x5c;
    inner[i] ^= 0x36;
  }
  SHA256 hash;
  hash.update(ArrayRef<uint8_t>(inner));
  hash.update(bytesOf(text));
  Digest middle = hash.final();
  hash.init();
  hash.update(ArrayRef<uint8_t>(outer));
  hash.update(ArrayRef<uint8_t>(middle));
  return hash.final();
}

bool equalInConstantTime(StringRef a, StringRef b) {
  if (a.size() != b.size())
    return false;
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference = difference | uint8_t(a[i] ^ b[i]);
  return difference == 0;
}

Digest randomNonce() {
  Digest nonce;
  // It cannot fail for so few bytes but on a kernel without it.
  if (::getentropy(nonce.data(), nonce.size()) != 0)
    report_fatal_error("the kernel gives no random numbers (getrandom)");
  return nonce;
}

std::string printable(StringRef text) {
  std::string shown = text.str();
  for (char &c : shown)
    if (!isPrint(c))
      c = '?';
  return shown;
}

} // namespace colrow::runtime
