// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses of TCP sockets.

#include "Address.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>

using namespace llvm;

namespace colrow::runtime {

static bool isLoopback4(uint32_t networkOrder) {
  return ntohl(networkOrder) >> 24 == 127;
}

bool Address::isLoopback() const {
  if (storage.ss_family == AF_INET)
    return isLoopback4(
        reinterpret_cast<const sockaddr_in *>(&storage)->sin_addr.s_addr);
  if (storage.ss_family != AF_INET6)
    return false;
  const in6_addr &v6 =
      reinterpret_cast<const sockaddr_in6 *>(&storage)->sin6_addr;
  if (!IN6_IS_ADDR_V4MAPPED(&v6))
    return IN6_IS_ADDR_LOOPBACK(&v6);
  uint32_t v4;
  std::memcpy(&v4, v6.s6_addr + 12, sizeof(v4));
  return isLoopback4(v4);
}

// The port stands at the same place in both kinds.
uint16_t Address::port() const {
  return ntohs(reinterpret_cast<const sockaddr_in *>(&storage)->sin_port);
}
void Address::setPort(uint16_t port) {
  reinterpret_cast<sockaddr_in *>(&storage)->sin_port = htons(port);
}

bool Address::operator==(const Address &other) const {
  return size == other.size && std::memcmp(&storage, &other.storage, size) == 0;
}

std::string shownAddress(StringRef host, uint16_t port) {
  return formatv(host.contains(':') ? "[{0}]:{1}" : "{0}:{1}", host, port);
}

Expected<std::vector<Address>> resolve(StringRef host, uint16_t port,
                                       bool &isTemporary) {
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int code = ::getaddrinfo(host.str().c_str(), nullptr, &hints, &list);
  isTemporary = code == EAI_AGAIN;
  if (code != 0)
    return failure("cannot find the host {0}: {1}", host, ::gai_strerror(code));
  std::vector<Address> addresses;
  for (addrinfo *entry = list; entry; entry = entry->ai_next) {
    if ((entry->ai_family != AF_INET && entry->ai_family != AF_INET6) ||
        entry->ai_addrlen > sizeof(sockaddr_storage))
      continue;
    Address address;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    address.setPort(port);
    if (!is_contained(addresses, address))
      addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  if (addresses.empty())
    return failure("the host {0} has no address", host);
  return addresses;
}

Address addressOf(const FileDescriptor &socket) {
  Address address;
  address.size = sizeof(address.storage);
  if (::getsockname(socket.get(), address.get(), &address.size) != 0)
    return Address();
  return address;
}

std::string errorText(int number) {
  return std::error_code(number, std::generic_category()).message();
}

Expected<FileDescriptor> connectTo(const Address &address, Deadline deadline) {
  FileDescriptor socket(::socket(address.storage.ss_family,
                                 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                                 0));
  if (!socket)
    return failure("{0}", errorText(errno));
  int fd = socket.get();
  if (::connect(fd, address.get(), address.size) != 0 && errno != EINPROGRESS)
    return failure("{0}", errorText(errno));
  pollfd entry = {fd, POLLOUT, 0};
  while (::poll(&entry, 1, deadline.millisecondsLeft()) <= 0)
    if (deadline.hasPassed())
      return failure("{0}", errorText(ETIMEDOUT));
  int number = 0;
  socklen_t size = sizeof(number);
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &number, &size) != 0)
    number = errno;
  // Where nobody listens, the kernel may give this very port to this end.
  if (number == 0 && addressOf(socket) == address)
    number = ECONNREFUSED;
  if (number != 0)
    return failure("{0}", errorText(number));
  return socket;
}

} // namespace colrow::runtime
