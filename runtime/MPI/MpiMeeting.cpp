// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each process tells process 0 where it runs; process 0 listens, and tells all
// where, or why not.

#include "colrow/runtime/MPI/MpiMeeting.h"
#include "colrow/runtime/Job/HostIdentity.h"
#include "colrow/runtime/MPI/MpiNetwork.h"
#include "colrow/runtime/Support/Errors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

using namespace llvm;

namespace colrow::runtime {

namespace {
/// What one process tells another: a text that ends at the first zero byte.
struct Blob {
  char text[1024] = {};

  StringRef str() const { return {text, ::strnlen(text, sizeof(text))}; }
  void set(StringRef from) {
    from = from.take_front(sizeof(text) - 1);
    std::copy(from.begin(), from.end(), text);
  }
};

/// Messages of the meeting. Memory of what is under way when the time is over
/// stays the network's.
class Mail {
public:
  Mail(Network &network, double seconds)
      : network(network), deadline(Deadline::in(seconds)) {}

  Error send(StringRef text, unsigned process) {
    auto blob = std::make_unique<Blob>();
    blob->set(text);
    return wait(network.send(blob.get(), sizeof(Blob), process, 0), process,
                blob);
  }
  Expected<std::string> receive(unsigned process) {
    auto blob = std::make_unique<Blob>();
    if (Error error =
            wait(network.receive(blob.get(), sizeof(Blob), process, 0), process,
                 blob))
      return std::move(error);
    return blob->str().str();
  }

private:
  Error wait(Network::Request request, unsigned process,
             std::unique_ptr<Blob> &blob) {
    while (!network.test(request)) {
      if (deadline.hasPassed()) {
        (void)blob.release();
        return failure("process {0} does not answer through MPI", process);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return Error::success();
  }

  Network &network;
  Deadline deadline;
};
} // namespace

/// As text; empty when it is of no use to other machines.
static std::string shownAddress(const sockaddr *address) {
  if (!address)
    return "";
  socklen_t size = sizeof(sockaddr_in);
  if (address->sa_family == AF_INET6) {
    auto *six = reinterpret_cast<const sockaddr_in6 *>(address);
    if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr))
      return "";
    size = sizeof(sockaddr_in6);
  } else if (address->sa_family != AF_INET) {
    return "";
  }
  char text[NI_MAXHOST];
  if (::getnameinfo(address, size, text, sizeof(text), nullptr, 0,
                    NI_NUMERICHOST) != 0)
    return "";
  return text;
}

/// Of the interfaces that reach other machines, IPv4 before IPv6.
static std::vector<std::string> ownAddresses() {
  std::vector<std::string> four, six;
  ifaddrs *all = nullptr;
  if (::getifaddrs(&all) != 0)
    return four;
  for (ifaddrs *one = all; one; one = one->ifa_next) {
    std::string text = shownAddress(one->ifa_addr);
    if (text.empty() || (one->ifa_flags & IFF_LOOPBACK) ||
        !(one->ifa_flags & IFF_UP))
      continue;
    (one->ifa_addr->sa_family == AF_INET ? four : six).push_back(text);
  }
  ::freeifaddrs(all);
  llvm::append_range(four, six);
  return four;
}

/// That of the machine's name, if it is one of ours, else any.
static Expected<std::string> reachableAddress() {
  std::vector<std::string> own = ownAddresses();
  if (own.empty())
    return failure("machine {0} has no address that others reach: name one "
                   "with --rendezvous HOST:PORT",
                   hostName());
  addrinfo wanted = {}, *all = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(hostName().c_str(), nullptr, &wanted, &all) != 0)
    return own.front();
  std::string found = own.front();
  for (addrinfo *one = all; one; one = one->ai_next)
    if (is_contained(own, shownAddress(one->ai_addr))) {
      found = shownAddress(one->ai_addr);
      break;
    }
  ::freeaddrinfo(all);
  return found;
}

static std::string randomText() {
  Digest nonce = randomNonce();
  return toHex(nonce, /*LowerCase=*/true);
}

/// Lines: host, port, number of the run, secret.
static std::string linesOf(const MeetingPlace &place,
                           const JobDescription &job) {
  return formatv("{0}\n{1}\n{2}\n", place.host, place.port, job.run);
}

static Expected<std::string> chooseHost(ArrayRef<std::string> machines,
                                        const JobDescription &job,
                                        bool trustNetwork) {
  if (all_equal(machines))
    return "127.0.0.1";
  if (job.token.empty() && !trustNetwork)
    return failure("processes run on several machines: set COLROW_TOKEN to the "
                   "same secret for all (mpirun -x COLROW_TOKEN, or -genvlist "
                   "COLROW_TOKEN), or COLROW_TOKEN_FILE to a file of mode "
                   "0600, or give --trust-network");
  return reachableAddress();
}

/// Opens the port. The job gets its number and its secret.
static Expected<std::unique_ptr<Hub>> open(Mail &mail, MeetingPlace &place,
                                           JobDescription &job,
                                           std::string &secret) {
  std::vector<std::string> machines = {machineId()};
  for (unsigned process = 1; process < job.processes; ++process) {
    Expected<std::string> machine = mail.receive(process);
    if (!machine)
      return machine.takeError();
    machines.push_back(std::move(*machine));
  }
  Expected<std::string> host = chooseHost(machines, job, place.trustNetwork);
  if (!host)
    return host.takeError();
  place.host = *host;
  job.run = randomText().substr(0, 8);
  secret = randomText();
  job.token += secret;
  return Hub::listen(place, job);
}

static Expected<std::vector<FileDescriptor>>
invite(Mail &mail, MeetingPlace place, JobDescription &job, double seconds) {
  std::string secret;
  Expected<std::unique_ptr<Hub>> hub = open(mail, place, job, secret);
  std::string text;
  if (hub) {
    place.port = (*hub)->port();
    text = "+" + linesOf(place, job) + secret;
  } else {
    text = "-";
  }
  for (unsigned process = 1; process < job.processes; ++process)
    if (Error error = mail.send(text, process)) {
      if (!hub)
        consumeError(hub.takeError());
      return std::move(error);
    }
  if (!hub)
    return hub.takeError();
  return (*hub)->accept(seconds);
}

static Expected<std::vector<FileDescriptor>>
follow(Mail &mail, MeetingPlace place, JobDescription &job, unsigned process,
       double seconds) {
  if (Error error = mail.send(machineId(), 0))
    return std::move(error);
  Expected<std::string> told = mail.receive(0);
  if (!told)
    return told.takeError();
  SmallVector<StringRef> lines;
  StringRef text = *told;
  if (!text.consume_front("+"))
    return make_error<ToldByFirst>();
  text.split(lines, '\n');
  if (lines.size() != 4 || lines[1].getAsInteger(10, place.port))
    return failure("process 0 does not say where it listens");
  place.host = lines[0].str();
  job.run = lines[2].str();
  job.token += lines[3].str();
  return rendezvous(place, job, process, seconds);
}

Expected<std::vector<FileDescriptor>> rendezvousByMpi(Network &network,
                                                      JobDescription job,
                                                      bool trustNetwork,
                                                      double seconds) {
  // Process 0, which says most, gives up first.
  job.isKnownByRun = true; // it is drawn for this meeting
  unsigned process = network.process();
  Mail mail(network, seconds + (process != 0));
  MeetingPlace place;
  place.trustNetwork = trustNetwork;
  return process == 0 ? invite(mail, place, job, seconds)
                      : follow(mail, place, job, process, seconds);
}

} // namespace colrow::runtime
