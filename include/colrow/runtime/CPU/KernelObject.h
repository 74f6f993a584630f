// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiled kernels of a plan, loaded from memory.

#ifndef COLROW_RUNTIME_CPU_KERNELOBJECT_H
#define COLROW_RUNTIME_CPU_KERNELOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace colrow::runtime {

using Kernel = void (*)(void *const *pointers, const int64_t *ints);

class KernelObject {
public:
  /// Loads an ELF shared object. Empty bytes give an object without kernels.
  static llvm::Expected<std::unique_ptr<KernelObject>>
  load(llvm::ArrayRef<uint8_t> bytes);
  ~KernelObject();
  KernelObject(const KernelObject &) = delete;
  KernelObject &operator=(const KernelObject &) = delete;

  /// The kernel's address; an error when the object has no such symbol.
  llvm::Expected<Kernel> find(llvm::StringRef symbol) const;

private:
  KernelObject(void *handle, int fd) : handle(handle), fd(fd) {}
  void *handle;
  int fd; // open as long as the object: dlopen tells objects apart by path
};

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_CPU_KERNELOBJECT_H
