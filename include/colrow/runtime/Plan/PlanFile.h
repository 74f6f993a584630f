// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing plan files. The tables are described in
// runtime/Plan/plan.fbs; on disk they follow a header of 32 bytes:
//   0 "COLROWPL"   8 u32 version   12 u32 zero   16 u64 length of the table
//   24 u64 XXH3 of the table                       (all little-endian)

#ifndef COLROW_RUNTIME_PLAN_PLANFILE_H
#define COLROW_RUNTIME_PLAN_PLANFILE_H

#include "colrow/runtime/Plan/PlanSchema.h"
#include "colrow/runtime/Support/AtomicFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdlib>
#include <memory>

namespace colrow::runtime {

/// Version of the file format: changes whenever a field's meaning does.
constexpr uint32_t planFormatVersion = 2;

/// No region, tensor or product of sizes may exceed this many bytes.
constexpr uint64_t maxRegionBytes = uint64_t(1) << 46;

/// What a plan file holds before `table`.
std::array<uint8_t, 32> planFileHeader(llvm::ArrayRef<uint8_t> table);

/// Writes header and table (the finished FlatBuffers buffer, identifier
/// "CLRP"). The file appears whole, at the result's commit(), or not at all; a
/// full disk is an error.
llvm::Expected<std::unique_ptr<AtomicFile>>
startPlanFile(llvm::StringRef path, llvm::ArrayRef<uint8_t> table);
/// The same, committed.
llvm::Error writePlanFile(llvm::StringRef path, llvm::ArrayRef<uint8_t> table);

/// A plan in memory, 64-byte aligned, that passed checkPlanTables().
class LoadedPlan {
public:
  const plan::Plan &get() const { return *root; }
  const plan::Plan *operator->() const { return root; }
  /// Tells contents apart: XXH3 of the table.
  uint64_t hash() const { return sum; }

private:
  friend llvm::Expected<LoadedPlan> loadPlanTable(llvm::StringRef,
                                                  llvm::ArrayRef<uint8_t>);
  struct Free {
    void operator()(uint8_t *p) const { ::free(p); }
  };
  std::unique_ptr<uint8_t, Free> storage;
  const plan::Plan *root = nullptr;
  uint64_t sum = 0;
};

/// Reads and checks a plan file. Whatever the file holds, the result is a
/// valid plan or an error that names the file; never a crash.
llvm::Expected<LoadedPlan> readPlanFile(llvm::StringRef path);

/// Checks a table and keeps a copy: all that readPlanFile does behind the
/// header. `name` is for errors.
llvm::Expected<LoadedPlan> loadPlanTable(llvm::StringRef name,
                                         llvm::ArrayRef<uint8_t> table);

/// The same for the bytes of a file (header and table); `name` is for errors.
llvm::Expected<LoadedPlan> readPlanBuffer(llvm::StringRef name,
                                          llvm::ArrayRef<uint8_t> bytes);

} // namespace colrow::runtime

#endif // COLROW_RUNTIME_PLAN_PLANFILE_H
