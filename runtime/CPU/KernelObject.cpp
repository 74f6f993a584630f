// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads a shared object from memory through a file without a name.

#include "colrow/runtime/CPU/KernelObject.h"
#include "colrow/runtime/Support/Errors.h"
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace colrow::runtime {

static Error checkElf(ArrayRef<uint8_t> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return failure("kernels are not a shared object");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return failure("kernels are not a shared object");
#if defined(__x86_64__)
  if (header.e_machine != EM_X86_64)
    return failure("plan was compiled for another CPU: its kernels are for "
                   "ELF machine {0}, this one is x86-64; compile it here",
                   header.e_machine);
#endif
  return Error::success();
}

Expected<std::unique_ptr<KernelObject>>
KernelObject::load(ArrayRef<uint8_t> bytes) {
  if (bytes.empty())
    return std::unique_ptr<KernelObject>(new KernelObject(nullptr, -1));
  if (Error error = checkElf(bytes))
    return std::move(error);
  int fd = ::memfd_create("colrow-kernels", MFD_CLOEXEC);
  if (fd < 0)
    return failure("cannot load kernels: {0}", strerror(errno));
  ArrayRef<uint8_t> rest = bytes;
  while (!rest.empty()) {
    ssize_t done = ::write(fd, rest.data(), rest.size());
    if (done <= 0) {
      int error = errno;
      ::close(fd);
      return failure("cannot load kernels: {0}", strerror(error));
    }
    rest = rest.drop_front(done);
  }
  std::string path = formatv("/proc/self/fd/{0}", fd).str();
  void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    Error error =
        failure("cannot load kernels: {0}", reason ? reason : "unknown reason");
    ::close(fd);
    return std::move(error);
  }
  return std::unique_ptr<KernelObject>(new KernelObject(handle, fd));
}

KernelObject::~KernelObject() {
  if (handle)
    ::dlclose(handle);
  if (fd >= 0)
    ::close(fd);
}

Expected<Kernel> KernelObject::find(StringRef symbol) const {
  std::string name = symbol.str();
  void *address = handle ? ::dlsym(handle, name.c_str()) : nullptr;
  if (!address)
    return failure("kernel {0} is not in the plan's object", symbol);
  return reinterpret_cast<Kernel>(address);
}

} // namespace colrow::runtime
